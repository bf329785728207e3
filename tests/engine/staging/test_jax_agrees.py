"""Programs of many idioms: what must be reported and what must not, held against JAX, which runs them.

Each runs, or it fails in JAX at a line that is marked.

- `becomes_traced`: the ways in which a function becomes traced.
- `stays_concrete`: what keeps its value under a trace, where a linter that guesses cries wolf.
- `looks_traced`: programs that run, written so that a hasty analysis takes something for a tracer that is none.
- `keys_shapes_effects`: random keys, shapes, stores and effects under a trace. Warnings are of programs that run.
- `other_spellings`: the same mistakes as other authors write them, each beside what looks like it and is right.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import sys
import traceback
import types
from pathlib import Path

import jax
import pytest

from tests.helpers.marks import read_marks
from tests.helpers.projects import expected, findings_in, reported, specimens_below

pytestmark = pytest.mark.usefixtures("compiled_quickly")

FAILS = {
    "tracer-branch",
    "tracer-concretization",
    "tracer-to-numpy",
    "dynamic-shape",
    "tracer-index",
    "array-item-assignment",
    "unhashable-static-argument",
    "tracer-as-static",
    "control-flow-signature",
}
CASES = specimens_below(
    "becomes_traced", "stays_concrete", "looks_traced", "keys_shapes_effects", "other_spellings"
)


@pytest.mark.parametrize("name", CASES)
def test_reports_what_is_marked_and_nothing_else(name: str, tmp_path: Path) -> None:
    files = {"program.py": CASES[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def needs(program: str) -> set[str]:
    """Libraries that the program imports and that are not installed here."""
    names = set(re.findall(r"^\s*(?:from|import) (\w+)", program, re.MULTILINE))
    return {name for name in names if importlib.util.find_spec(name) is None}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_jax_agrees(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program runs, or it fails at the line that is marked as an error."""
    program = CASES[name]
    if needs(program):
        pytest.skip(f"needs {', '.join(sorted(needs(program)))}")
    marks = {line for _, line, rule in expected({name: program}) if rule in FAILS}
    marks |= read_marks(program, name).lines("finding-missed")
    module = types.ModuleType("program")
    monkeypatch.setitem(sys.modules, "program", module)  # where dataclasses look up their annotations
    failed_at = None
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(program, "program.py", "exec"), module.__dict__)
        except Exception as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "program.py"]
            failed_at = frames[-1].lineno
            if not marks:
                raise
    jax.effects_barrier()
    assert (failed_at in marks) if marks else failed_at is None
