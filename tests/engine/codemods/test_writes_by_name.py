"""No edit compiles the reads of a variable that the program may set through a name or a dictionary of variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

PROGRAM = """
import builtins
import importlib
import sys
from importlib import reload as again
import jax.numpy as jnp
import tuning

class Kept:
    def __setstate__(self, state):
        self.__dict__.update(state)

def tried(text, loader):
    {written}

def pulled(x):
    return jnp.sin(tuning.RATE * x)

print(pulled(jnp.ones(3)))
tried(sys.argv[-1], None)
print(pulled(jnp.ones(3)))
"""


def refusal(written: str, folder: Path, tuning: str = "RATE = 1.0\n") -> str | None:
    text = PROGRAM.format(written=written)
    first = next(number for number, one in enumerate(text.splitlines(), 1) if "def pulled" in one)
    step = Step(
        "add-jit",
        "program.py",
        Span(first, 1, first, 4),
        {"arguments": [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]},
    )
    sources = {
        name: SourceFile(folder / name, name, given, "utf-8", False, "")
        for name, given in (("program.py", text), ("tuning.py", tuning))
    }
    for name, source in sources.items():
        if folder.is_absolute():
            (folder / name).write_text(source.text)
    plan = Workspace(sources, strict=True).plan(FixRequest(Safety.UNSAFE, "Jit", (step,)))
    return plan if isinstance(plan, str) else None


@pytest.mark.parametrize("known", [True, False], ids=["project", "library"])
@pytest.mark.parametrize(
    "written",
    [
        "exec(text, tuning.__dict__)",
        "space = tuning.__dict__; exec(text, space)",
        "tuning.__dict__['RATE'] = 2.0",
        "tuning.__dict__.update(RATE=2.0)",
        "vars(tuning).update(RATE=2.0)",
        "sys.modules['tuning'].__dict__['RATE'] = 2.0",
        "again(tuning)",
        "loader.exec_module(tuning)",
        "builtins.setattr(tuning, text, 2.0)",
    ],
)
def test_a_variable_that_may_be_set_is_not_compiled(written: str, known: bool, tmp_path: Path) -> None:
    reason = refusal(written, tmp_path if known else Path())
    assert reason is not None
    assert "RATE" in reason
    assert "set at program.py:14" in reason


@pytest.mark.parametrize("known", [True, False], ids=["project", "library"])
@pytest.mark.parametrize(
    "written",
    [
        "pass",
        "print(tuning.__dict__['RATE'], sorted(tuning.__dict__))",
        "print({**tuning.__dict__}, tuning.__dict__.get('RATE'), 'RATE' in tuning.__dict__)",
        "Kept().__dict__['RATE'] = 2.0",
        "exec(text, {})",
    ],
)
def test_what_only_reads_or_sets_others_is_left_alone(written: str, known: bool, tmp_path: Path) -> None:
    assert refusal(written, tmp_path if known else Path()) is None


LAZY = """
def __getattr__(name):
    globals()[name] = 1.0
    return 1.0
"""


@pytest.mark.parametrize("tuning", [LAZY, "globals()['RATE'] = 1.0\n", "exec('RATE = 1.0')\n"])
def test_a_variable_that_a_module_does_not_bind_by_its_name(tuning: str, tmp_path: Path) -> None:
    reason = refusal("pass", tmp_path, tuning)
    assert reason is not None
    assert "reads `tuning.RATE`, which tuning.py never binds by name" in reason


def test_a_variable_of_another_module_that_is_imported_whole(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("RATE = 1.0\n")
    assert refusal("pass", tmp_path, "from base import RATE\n") is None
