"""einops: what its functions give, held against einops and JAX."""

from __future__ import annotations

from pathlib import Path

import einops
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.helpers.projects import expected, findings_in, reported

PROGRAMS = {
    "a tracer stays one": """
        import jax
        import jax.numpy as jnp
        from einops import rearrange, reduce, einsum

        @jax.jit
        def heads(x, w):
            x = rearrange(x, "b (h d) -> b h d", h=2)
            if reduce(x, "b h d -> ", "sum") > 0:  # finding: tracer-branch
                x = -x
            if einsum(x, w, "b h d, d -> b h").max() > 0:  # finding: tracer-branch
                x = -x
            return float(x.ndim)

        heads(jnp.ones((3, 4)), jnp.ones(2))
    """,
    "an array of the host stays one": """
        import jax
        import numpy as np
        from einops import rearrange

        TABLE = rearrange(np.arange(6.0), "(a b) -> a b", a=2)

        @jax.jit
        def f(x):
            if TABLE[0, 1] > 0:
                x = x * TABLE
            return x

        f(np.ones((2, 3)))
    """,
    "packed": """
        import jax
        import jax.numpy as jnp
        from einops import pack

        @jax.jit
        def f(x, y):
            packed, shapes = pack([x, y], "* d")
            if packed.sum() > 0:  # finding: tracer-branch
                return x
            return y * len(shapes)

        f(jnp.ones((2, 3)), jnp.ones((4, 3)))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_reports_what_is_marked_and_nothing_else(name: str, tmp_path: Path) -> None:
    files = {"program.py": PROGRAMS[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_einops_gives_what_the_model_says() -> None:
    """Tracers go in and come out; NumPy arrays stay on the host."""

    def check(x: jax.Array) -> jax.Array:
        assert isinstance(einops.rearrange(x, "a b -> b a"), jax.core.Tracer)
        assert isinstance(einops.rearrange([x, x], "c a b -> a b c"), jax.core.Tracer)
        assert isinstance(einops.repeat(x, "a b -> a b 2"), jax.core.Tracer)
        assert isinstance(einops.einsum(x, x, "a b, a b -> a"), jax.core.Tracer)
        packed, shapes = einops.pack([x, x], "* b")
        assert isinstance(packed, jax.core.Tracer)
        assert isinstance(shapes, list)
        return einops.reduce(x, "a b -> a", "mean")

    assert jax.jit(check)(jnp.ones((2, 3))).shape == (2,)
    assert type(einops.rearrange(np.ones((2, 3)), "a b -> b a")) is np.ndarray
