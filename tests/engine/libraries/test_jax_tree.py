"""jax.tree: trees that are taken apart and put together, held against JAX."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from tests.helpers.projects import expected, findings_in, reported

PROGRAMS = {
    "leaves are tracers, their number is not": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(tree):
            leaves, shape = jax.tree.flatten(tree)
            if len(leaves) > 1:
                leaves = [leaf + 1 for leaf in leaves]
            again = jax.tree.unflatten(shape, leaves)
            if again["a"] > 0:  # finding: tracer-branch
                return again
            if jax.tree.leaves(again)[0] > 0:  # finding: tracer-branch
                return tree
            return again

        f({"a": jnp.float32(1), "b": jnp.float32(2)})
    """,
    "a structure is of Python": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def f(tree):
            if jax.tree.structure(tree).num_leaves > 1:
                return jax.tree.map(lambda leaf: leaf + 1, tree)
            return tree

        f((jnp.ones(2), jnp.ones(2)))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_reports_what_is_marked_and_nothing_else(name: str, tmp_path: Path) -> None:
    files = {"program.py": PROGRAMS[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_jax_gives_what_the_models_say() -> None:
    def check(tree: dict[str, jax.Array]) -> jax.Array:
        leaves, shape = jax.tree.flatten(tree)
        assert isinstance(leaves, list)
        assert all(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))
        assert type(jax.tree.structure(tree).num_leaves) is int
        assert isinstance(jax.tree.unflatten(shape, leaves)["a"], jax.core.Tracer)
        return leaves[0]

    assert jax.jit(check)({"a": jnp.ones(2), "b": jnp.ones(3)}).shape == (2,)
