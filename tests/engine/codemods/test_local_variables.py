"""No edit moves variables that the program reads without naming them: through `locals()`, `eval`, frames, lists of names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

PROGRAM = """
import inspect
import sys
import jax
import jax.numpy as jnp

def shown():
    {helper}

def budget(u, k):
    inside = jnp.sum(u) / k
    spread = jnp.sqrt(inside)
    {asked}
    return spread

def total_loss(u):
    return u

{module}
for _ in range(3):
    print(budget(jnp.ones(3), 2.0))
"""

ARGUMENTS = [
    {"name": "u", "type": "ArrayImpl", "leaves": [{}]},
    {"name": "k", "type": "float", "value": "2.0"},
]


def refusal(codemod: str, first: str, last: str, text: str, strict: bool = True) -> str | None:
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines, 1) if first in line)
    end = next(number for number, line in enumerate(lines, 1) if last in line)
    span = Span(start, lines[start - 1].index(first) + 1, end, lines[end - 1].index(last) + len(last) + 1)
    step = Step(codemod, "program.py", span, {"arguments": ARGUMENTS, "variables": ARGUMENTS, "often": True})
    source = SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "")
    ast.parse(text)
    plan = Workspace({"program.py": source}, strict=strict).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None


def region(asked: str = "pass", helper: str = "pass", module: str = "", strict: bool = True) -> str | None:
    text = PROGRAM.format(asked=asked, helper=helper, module=module)
    return refusal("region-to-jit", "inside = jnp", "jnp.sqrt(inside)", text, strict)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("print('{inside}'.format(**locals()))", "`locals()` at program.py:13 reads variables without naming them"),
        ("print(sorted(vars()))", "`vars()` at program.py:13 reads variables without naming them"),
        ("print(eval('inside + 1'))", "`eval('inside + 1')` at program.py:13 reads variables without naming them"),
        ("print(table.query('a > @inside'))", "`table.query('a > @inside')` at program.py:13 reads variables without naming them"),
    ],
)  # fmt: skip
def test_a_function_that_reads_its_variables_by_name_keeps_them(asked: str, words: str) -> None:
    assert region(asked) == words
    assert region(asked, strict=False) == words


@pytest.mark.parametrize(
    "asked",
    ["pass", "print(vars(shown))", "print(eval('x', {'x': 1}))", "print(table.query('a > 1'))"],
)
def test_others_do_not(asked: str) -> None:
    assert region(asked) is None


def test_a_helper_that_looks_into_frames() -> None:
    assert region(helper="return sys._getframe(1).f_code.co_name") is None
    reason = region(helper="return sys._getframe(1).f_locals")
    assert reason == "`sys._getframe(1).f_locals` at program.py:8 may read variables of a caller"
    assert region(helper="return sys._getframe(1).f_locals", strict=False) is None


@pytest.mark.parametrize(
    ("module", "listed"),
    [
        ("losses = [f for name, f in globals().items() if name.endswith('_loss')]", True),
        ("print(sorted(dir()))", True),
        ("print(inspect.getmembers(sys.modules[__name__]))", True),
        ("print(globals()['total_loss'])", False),
        ("print(globals().get('total_loss'))", False),
        ("print('total_loss' in globals())", False),
        ("print(inspect.getmembers(budget))", False),
    ],
)
def test_a_program_that_lists_the_names_of_its_module(module: str, listed: bool) -> None:
    reason = region(module=module)
    assert (reason is not None) is listed
    assert reason is None or reason.endswith("may list the names of the module")


def test_a_list_of_names_that_is_made_before_the_new_one() -> None:
    early = "CONFIG = [name for name in globals() if name.islower()]"
    text = PROGRAM.format(asked="pass", helper="pass", module="").replace(
        "def shown():", f"{early}\n\ndef shown():"
    )
    made = ("region-to-jit", "inside = jnp", "jnp.sqrt(inside)")
    assert refusal(*made, text) is None
    loop = text.replace(early, f"for _ in range(2):\n    {early}")
    assert refusal(*made, loop) is not None


LOOPS = """
import jax
import jax.numpy as jnp

def settled(x):
    for turn in range(9):
        gap = jnp.sin(x) - x
        x = x + 0.1 * gap
    {asked}
    return x

def grown(x):
    seen = jnp.zeros(0)
    for turn in range(5):
        seen = jnp.append(seen, jnp.sin(x))
    {asked}
    return seen

settled(jnp.ones(3))
print(grown(jnp.ones(())))
"""


@pytest.mark.parametrize(
    ("codemod", "iterable"), [("for-to-scan", "range(9)"), ("grown-array-to-list", "range(5)")]
)
def test_loops(codemod: str, iterable: str) -> None:
    def made(asked: str) -> str | None:
        return refusal(codemod, iterable, iterable, LOOPS.format(asked=asked))

    assert made("pass") is None
    reason = made("print(sorted(locals()))")
    assert reason is not None
    assert reason.startswith("`locals()` at program.py:")
