"""What goes round in a loop of JAX keeps its shape and dtype on every path, or the loop stays."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods.purity.carried import Carried
from jaxlint.codemods.purity.meaning import Meaning
from jaxlint.codemods.purity.program import Program
from jaxlint.source.file import SourceFile

HEAD = """import sys
import jax
import jax.numpy as jnp

def loss(w, x):
    return jnp.mean((x @ w) ** 2)

def step(w, x):
    value, grads = jax.value_and_grad(loss)(w, x)
    return w - 0.1 * grads, value

rows = jax.vmap(loss, (None, 0))

"""
FLOATS = "makes floats of them"


@pytest.mark.parametrize(
    ("start", "step", "told"),
    [
        ("0.0", "mean + jnp.sum(row)", ""),
        ("0.0", "jnp.maximum(mean, jnp.abs(row).max())", ""),
        ("0.0", "mean + loss(w, row)", ""),
        ("0", "mean + jax.jit(loss)(w, row) / 2", ""),
        ("jnp.zeros(3)", "0.9 * mean + 0.1 * row", ""),
        ("x", "0.9 * mean + 0.1 * row", FLOATS),
        ("jnp.arange(4)", "mean / 2", FLOATS),
        ("jnp.arange(4) % 3", "mean + row", ""),
        ("jnp.arange(4.0)", "0.9 * mean", ""),
        ("jnp.ones(4).astype(int)", "jnp.tanh(mean)", FLOATS),
        ("y", "0.9 * mean", ""),
    ],
)
def test_a_carry_keeps_its_dtype(tmp_path: Path, start: str, step: str, told: str) -> None:
    text = (
        f"{HEAD}def f(w, x, y, all_rows):\n    mean = {start}\n    for row in all_rows:\n        mean = {step}\n    return mean\n\n"
        "f(jnp.ones(3), jnp.arange(4) if len(sys.argv) > 1 else jnp.ones(4), jnp.ones(4), jnp.ones((9, 4, 3)))\n"
    )
    assert told in problems(tmp_path, text, ["mean"]) if told else problems(tmp_path, text, ["mean"]) == ""


@pytest.mark.parametrize(
    ("shape", "start", "told"),
    [
        ("(9, 3) if len(sys.argv) > 1 else (9,)", "0.0", "`signal` may have more axes"),
        ("(9, 3) if len(sys.argv) > 1 else (9,)", "jnp.zeros(())", "`signal` may have more axes"),
        ("(9, 3) if len(sys.argv) > 1 else (9,)", "jnp.zeros(3)", ""),
        ("(9, 3) if len(sys.argv) > 1 else (9, 4)", "0.0", ""),
        ("(9,)", "0.0", ""),
    ],
)
def test_a_carry_of_one_number_among_rows_that_may_have_several(
    tmp_path: Path, shape: str, start: str, told: str
) -> None:
    text = (
        f"{HEAD}def f(signal, rate):\n    mean, count = {start}, 0\n    for row in signal:\n        mean = (1 - rate) * mean + rate * row\n    return mean\n\n"
        f"shape = {shape}\nf(jax.random.normal(jax.random.key(0), shape), 0.1)\n"
    )
    found = problems(tmp_path, text, ["mean"])
    assert told in found if told else found == ""


def problems(folder: Path, text: str, names: list[str]) -> str:
    """What is told of the variables of the one loop of a file."""
    program = Program({"a.py": SourceFile(folder / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    loop = next(one for one in ast.walk(file.tree) if isinstance(one, ast.For))
    return "; ".join(Carried(Meaning(program)).problems(names, loop, file))
