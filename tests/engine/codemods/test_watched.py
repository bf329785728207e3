"""No edit compiles what a program watches: each call of a function, or each warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

PROGRAM = """
import sys
import threading
import warnings
import jax.numpy as jnp

def tried(watch, how):
    {written}

def bent(x):
    return jnp.tanh(x) * 2.0

def settled(x):
    for _ in range(9):
        x = jnp.tanh(x) + 0.1
    return x

tried(print, "error")
print(settled(bent(jnp.ones(3))))
"""


def refusal(codemod: str, written: str, strict: bool = True) -> str | None:
    text = PROGRAM.format(written=written)
    lines = text.splitlines()
    line = "def bent" if codemod == "add-jit" else "for _ in range(9)"
    first = next(number for number, one in enumerate(lines, 1) if line in one)
    span = Span(first, 1, first, 4) if codemod == "add-jit" else Span(first, 14, first, 22)
    step = Step(
        codemod, "program.py", span, {"arguments": [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]}
    )
    source = SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "")
    plan = Workspace({"program.py": source}, strict=strict).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None


@pytest.mark.parametrize("codemod", ["add-jit", "for-to-scan"])
@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("sys.setprofile(watch)", "observes each call, and compiled code makes no Python calls"),
        ("threading.settrace(watch)", "observes each call, and compiled code makes no Python calls"),
        ("warnings.simplefilter('error')", "observes each warning, and compiled code warns only at trace time"),
        ("warnings.filterwarnings(how)", "observes each warning, and compiled code warns only at trace time"),
        ("warnings.catch_warnings(record=True)", "observes each warning, and compiled code warns only at trace time"),
        ("warnings.showwarning = watch", "observes each warning, and compiled code warns only at trace time"),
    ],
)  # fmt: skip
def test_what_is_watched_is_not_compiled(codemod: str, written: str, words: str) -> None:
    assert refusal(codemod, written) == f"`{written}` at program.py:8 {words}".replace(
        "showwarning = watch", "showwarning"
    )
    assert refusal(codemod, written, strict=False) is None


@pytest.mark.parametrize(
    "written",
    [
        "sys.setprofile(None)",
        "warnings.simplefilter('ignore')",
        "warnings.filterwarnings('error', category=RuntimeWarning)",
        "warnings.catch_warnings()",
    ],
)
def test_others_are_compiled(written: str) -> None:
    assert refusal("add-jit", written) is None
