"""Programs as people write them, each after a real report: what is wrong in the bad ones is found, the good ones are left alone.

`tests/programs/README.md` says where they lie, and what their marks and headers mean.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.golden import HASHES, hashes, program_findings
from tests.helpers.marks import Marked, read_marks
from tests.helpers.wording import KINDS, faults

PROGRAMS = Path(__file__).parents[1] / "programs"
HEADER = ("source", "blind", "missed")
_SOURCE = re.compile(r"([\w.-]+/)?[\w.-]+#\d+")


@dataclass(frozen=True)
class Program:
    """One file of `tests/programs`; `path` is relative to it."""

    path: str
    is_bad: bool
    marked: Marked

    def caught(self, found: set[int]) -> bool:
        return self.marked.lines() <= found or bool(self.marked.lines("finding-also") & found)

    @property
    def is_missed(self) -> bool:
        return "missed" in self.marked.about


def load(path: Path) -> Program:
    """Reads one; a mark or a header that is not well formed is an error."""
    name = path.relative_to(PROGRAMS).as_posix()
    return Program(name, path.parent.name == "bad", read_marks(path.read_text("utf-8"), name, header=HEADER))


ALL = [load(path) for path in sorted(PROGRAMS.rglob("*.py"))]
BAD = [program for program in ALL if program.is_bad]
GOOD = [program for program in ALL if not program.is_bad]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return program_findings(tmp_path_factory.mktemp("programs"), [program.path for program in ALL])


@pytest.fixture(scope="module")
def found(findings: list[dict[str, Any]]) -> dict[str, set[int]]:
    """The lines with an error or a warning in each program."""
    lines: dict[str, set[int]] = defaultdict(set)
    for finding in findings:
        if finding["severity"] in ("error", "warning"):
            lines[finding["path"]].add(finding["line"])
    return lines


def test_all_that_is_said_is_on_record(findings):
    assert hashes(findings) == json.loads(HASHES.read_text(encoding="utf-8")), "see tests/helpers/golden.py"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_follows_the_style(findings, kind):
    texts = (found["fix"] and found["fix"]["message"] if kind == "fix" else found[kind] for found in findings)
    said = {text for text in texts if text}
    assert len(said) > 50
    assert faults(kind, said) == []


def test_mistakes_are_found(found):
    missed = {
        program.path: sorted(program.marked.lines())
        for program in BAD
        if not program.is_missed and not program.caught(found[program.path])
    }
    assert missed == {}


def test_what_is_missed_is_said_to_be(found):
    assert [
        program.path for program in BAD if program.is_missed and program.caught(found[program.path])
    ] == []


def test_good_programs_are_left_alone(found):
    noise = {program.path: found[program.path] - program.marked.lines("finding-other") for program in GOOD}
    assert {path: lines for path, lines in noise.items() if lines} == {}


def test_each_program_lies_where_its_marks_say():
    """`bad` has a mistake to be found, `good` has none that could be missed."""
    for program in ALL:
        *_, kind, _ = program.path.split("/")
        assert program.path.count("/") == 2, program.path
        assert kind in ("bad", "good"), program.path
        assert bool(program.marked.lines()) == program.is_bad, program.path
        assert program.is_bad or not program.marked.lines("finding-also") | set(program.marked.about) & {
            "missed"
        }, program.path
        assert not any(mark.rules for mark in program.marked.marks), f"{program.path}: rules are not compared"
        assert _SOURCE.fullmatch(program.marked.about.get("source", "a#1")), program.path
