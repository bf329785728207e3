"""What a report says to do next, where the program ran as several processes."""

from __future__ import annotations

from typing import Any

import pytest

from jaxlint_runtime.report import first_lines
from jaxlint_runtime.report.candidate_lines import WRITABLE
from jaxlint_runtime.report.document import Document


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ({}, "run the same command with --apply to write donation of step."),
        ({"processes": 2}, "run the same command with --apply to write donation of step."),
        (
            {"processes": None, "joins": False},
            "run the same command with --apply to write donation of step.",
        ),
        (
            {"processes": None, "joins": True},
            "run it with --launcher or --processes, and --apply, to write donation of step.",
        ),
    ],
)
def test_what_joined_processes_proved_is_written_by_one_command(program: dict[str, Any], said: str) -> None:
    document = Document(program, ["cpu"])
    result: Any = {
        "path": "train.py",
        "line": 3,
        "candidate": "donation",
        "function": "step",
        "status": "verified",
    }
    document.results.append(("cpu", result))
    assert first_lines._next(document, {("train.py", 3, "donation"): WRITABLE}) == said
