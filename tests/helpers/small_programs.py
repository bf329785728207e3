"""Programs of a few lines, each with one finding."""

from __future__ import annotations

# JAX101 in line 6
BRANCH = """\
import jax


@jax.jit
def step(x):
    if x > 0:
        return x
    return -x
"""

# JAX901 in line 3, with a safe fix
OLD = "import jax\n\nleaves = jax.tree_leaves({})\n"


def branch_in(name: str) -> str:
    """The program with a branch in a function of this name."""
    return BRANCH.replace("step", name)
