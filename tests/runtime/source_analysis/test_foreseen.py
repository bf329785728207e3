"""What check foresees of an edit on paths that no run takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.source import SourceFile
from jaxlint_runtime.source_analysis.findings import Foreseen

PROGRAM = """import sys
from functools import partial
import jax
import jax.numpy as jnp

{jit}
def step(p, x):
    return jax.tree.map(lambda a: a - 0.1 * jnp.mean(x), p)

def main():
    p = {{"w": jnp.zeros(3)}}
    best = None
    for i in range(5):
        p = step(p, jnp.ones(4))
        if "--best" in sys.argv:
            {kept}
    print(p["w"], best)

main()
"""
DONATING = "@partial(jax.jit, donate_argnums=0)"


def files(jit: str, kept: str) -> dict[str, SourceFile]:
    text = PROGRAM.format(jit=jit, kept=kept)
    return {"a.py": SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")}


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("best = p", "JAX602"),
        ("best = (i, p)", "JAX602"),
        ("best = dict(p)", "JAX602"),
        ("best = i", ""),
        ("best = jax.tree.map(jnp.copy, p)", ""),
    ],
)
def test_an_array_that_is_gone_on_another_path(kept: str, told: str) -> None:
    found = Foreseen(files("@jax.jit", kept)).new_error(files(DONATING, kept))
    assert told in found if told else found == ""


def test_what_the_program_has_already_is_not_new() -> None:
    assert Foreseen(files(DONATING, "best = p")).new_error(files(DONATING, "best = p")) == ""
