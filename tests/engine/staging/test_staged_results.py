"""What a compiled function gives inside of `vmap`: a tracer if one goes in, an array otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import expected, findings_in, reported

PROGRAM = """
    import jax
    import jax.numpy as jnp

    @jax.jit
    def doubled(x):
        return x * 2

    def flux(p):
        grid = jnp.arange(3.0)
        total = jnp.sum({computed})
        if total > 0:{mark}
            return p * total
        return p

    print(jax.{staged}(flux)(jnp.ones(4)))
"""
MARK = "  # reports tracer-branch"


@pytest.mark.parametrize(
    ("computed", "mark"),
    [
        ("doubled(grid)", ""),
        ("doubled(p * grid)", MARK),
        ("jax.vmap(doubled)(grid)", ""),
        ("jax.lax.map(lambda x: x + 1, grid)", ""),
        ("jax.lax.map(lambda x: x * p, grid)", MARK),
        ("jax.lax.map(lambda x: (lambda y: y * p)(x), grid)", MARK),
        ("jax.lax.scan(lambda c, x: (c + x, c), 0.0, grid)[0]", ""),
        ("jax.lax.scan(lambda c, x: (c + x, c), p, grid)[0]", MARK),
        ("jax.lax.fori_loop(0, 3, lambda i, c: c + i, 0)", ""),
        ("jax.lax.cond(p > 0, lambda: 1.0, lambda: 2.0)", MARK),
    ],
)
def test_only_what_a_tracer_goes_into_is_one(tmp_path: Path, computed: str, mark: str) -> None:
    files = {"program.py": PROGRAM.format(computed=computed, mark=mark, staged="vmap")}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_under_jit_everything_is_a_tracer(tmp_path: Path) -> None:
    files = {"program.py": PROGRAM.format(computed="doubled(grid)", mark=MARK, staged="jit")}
    assert reported(findings_in(tmp_path, files)) == expected(files)
