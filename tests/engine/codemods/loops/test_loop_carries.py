"""What goes round in a JAX loop keeps its shape and dtype on every path, or the loop stays."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods.purity.loop_carries import Carried
from jaxlint.codemods.purity.possible_values import PossibleValues
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
FLOATS = "become floats in an iteration"


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


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("jnp.zeros(3, dtype=args.dtype)", "`args.dtype`"),
        ("jnp.zeros(3, args.dtype)", "`args.dtype`"),
        ("jnp.zeros(3).astype(DTYPES[args.dtype])", "`DTYPES[args.dtype]`"),
        ("jnp.zeros(3, dtype=DTYPES[args.dtype]).at[0].set(1.0)", "`DTYPES[args.dtype]`"),
        ("2 * jnp.asarray([1.0, 2.0, 3.0], dtype=getattr(jnp, args.dtype))", "`getattr(jnp, args.dtype)`"),
        ("jnp.zeros(3, dtype=jnp.float32)", ""),
        ('jnp.zeros(3, dtype="bfloat16")', ""),
        ("jnp.zeros(3, dtype=HALF)", ""),
        ("jnp.zeros(3, dtype=other.dtype)", ""),
        ("jnp.zeros_like(other)", ""),
    ],
)
def test_a_carry_whose_dtype_is_chosen_by_an_option(tmp_path: Path, made: str, told: str) -> None:
    text = (
        f"import argparse\n{HEAD}DTYPES = {{'single': jnp.float32, 'half': jnp.float16}}\nHALF = jnp.float16\n\n"
        "def f(w, xs):\n    for x in xs:\n        w = 0.9 * w + 0.1 * x\n    return w\n\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--dtype', default='single')\nargs = parser.parse_args()\n"
        f"other = jnp.ones(3)\nf({made}, jnp.ones((9, 3)))\n"
    )
    found = problems(tmp_path, text, ["w"])
    assert told in found if told else found == ""


WIDER = 'def wider():\n    jax.config.update("jax_enable_x64", True)\n\n'


@pytest.mark.parametrize(
    ("before", "setting", "told"),
    [
        (
            "",
            'if len(sys.argv) > 1:\n        jax.config.update("jax_enable_x64", True)',
            "sets 64-bit defaults",
        ),
        ("", 'jax.config.update("jax_enable_x64", len(sys.argv) > 1)', "sets 64-bit defaults"),
        ("", "jax.config.update(settings.NAME, len(sys.argv) > 1)", "sets 64-bit defaults"),
        ("", 'jax.config.update("jax_enable_x64", True)', ""),
        ("", 'if len(sys.argv) > 1:\n        jax.config.update("jax_platforms", "cpu")', ""),
        (WIDER, "if len(sys.argv) > 1:\n        wider()", "sets 64-bit defaults"),
        (WIDER, "wider()", ""),
        ('jax.config.update("jax_enable_x64", True)\n', "pass", ""),
        (
            'if "wide" in sys.argv:\n    jax.config.update("jax_enable_x64", True)\n',
            "pass",
            "sets 64-bit defaults",
        ),
        ("", "with jax.enable_x64(True):\n        f(start)", "sets 64-bit defaults"),
        (
            'import os\nif "wide" in sys.argv:\n    os.environ["JAX_ENABLE_X64"] = "1"\n',
            "pass",
            "sets 64-bit defaults",
        ),
        ('import os\nos.environ["JAX_ENABLE_X64"] = "1"\n', "pass", ""),
        (
            "import os\nos.environ.update(JAX_ENABLE_X64=str(len(sys.argv) > 1))\n",
            "pass",
            "sets 64-bit defaults",
        ),
        ("", "jax.config.parse_flags_with_absl()", "sets 64-bit defaults"),
    ],
)
def test_a_carry_in_a_program_that_has_64_bits_on_some_paths(
    tmp_path: Path, before: str, setting: str, told: str
) -> None:
    text = (
        f"{HEAD}{before}def f(w):\n    for t in jnp.linspace(0.0, 1.0, 9):\n        w = w + 0.1 * jnp.sin(t)\n    return w\n\n"
        f"def main():\n    start = jnp.ones(3, dtype=jnp.float32)\n    {setting}\n    f(start)\n\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    found = problems(tmp_path, text, ["w"])
    assert told in found if told else found == ""


def problems(folder: Path, text: str, names: list[str]) -> str:
    """What is told of the variables of the one loop of a file."""
    program = Program({"a.py": SourceFile(folder / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    loop = next(one for one in ast.walk(file.tree) if isinstance(one, ast.For))
    return "; ".join(Carried(PossibleValues(program)).problems(names, loop, file))
