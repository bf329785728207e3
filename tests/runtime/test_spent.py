"""What a run of verify counts as spent, and what it leaves out where that would be too dear."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jaxlint_runtime import spent
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.terminal import print_report
from jaxlint_runtime.request import Request
from jaxlint_runtime.run import Run
from jaxlint_runtime.spent import Phase, Spent


def busy(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_phase_inside_another_counts_by_itself() -> None:
    known = Spent()
    with known.phase("outer"):
        busy(0.05)
        with known.phase("inner"):
            busy(0.2)
        busy(0.05)
    assert known.phases["inner"].processor_s >= 0.2
    assert 0.1 <= known.phases["outer"].processor_s < 0.2
    assert known.phases["outer"].times == 1


def test_a_whole_phase_has_all_that_is_inside() -> None:
    known = Spent()
    with known.phase("whole", whole=True):
        with known.phase("inner"):
            busy(0.1)
        known.turn("other")
    assert list(known.phases) == ["whole"]
    assert known.phases["whole"].processor_s >= 0.1


def test_the_rest_of_a_phase_may_be_another() -> None:
    known = Spent()
    with known.phase("first"):
        busy(0.05)
        known.turn("second")
        busy(0.15)
    assert known.phases["second"].processor_s >= 0.15 > known.phases["first"].processor_s


_WORK = "import time\nwhile time.process_time() < {}: pass\nprint(1, flush=True)\ninput()"


def test_processes_that_run_and_that_have_ended_are_counted() -> None:
    known = Spent()
    with known.phase("work"):
        subprocess.run([sys.executable, "-c", _WORK.format(0.3)], input=b"\n", check=True)
    assert known.phases["work"].processor_s >= 0.3
    with subprocess.Popen(
        [sys.executable, "-c", _WORK.format(0.3)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        with known.phase("more"):
            child.stdout.readline()
        assert known.phases["more"].processor_s >= 0.2
        child.communicate(b"\n")


def test_a_process_apart_counts_for_its_own_phase() -> None:
    known = Spent()
    with subprocess.Popen(
        [sys.executable, "-c", _WORK.format(0.3)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        spent.apart(child.pid, "imports")
        with known.phase("work"):
            child.stdout.readline()
        child.communicate(b"\n")
    assert known.phases["imports"].processor_s >= 0.2
    assert known.phases["work"].processor_s < 0.15


@pytest.mark.parametrize(
    ("price", "program", "used", "left"),
    [
        (None, 10.0, 1000.0, math.inf),  # a run with --budget
        (5.0, None, 1000.0, math.inf),  # the program has not ended yet
        (5.0, 10.0, 20.0, 30.0),
        (5.0, 1.0, 20.0, 10.0),  # a program shorter than its imports
    ],
)
def test_without_a_budget_the_program_limits_what_is_spent(
    price: float | None, program: float | None, used: float, left: float
) -> None:
    run = Run(Request("script", "train.py", price=price))
    run.spent.program_s = program
    run.spent.phases["before"] = Phase(used, used)
    assert run.allowance == pytest.approx(left)


def test_the_report_shows_what_was_spent(tmp_path: Path) -> None:
    document = Document({"target": "train.py"}, ["cpu"])
    document.spent.program_s = 10.0
    document.spent.phases["edited programs"] = Phase(50.0, 25.0, 3)
    (phase,) = document.as_json()["spent"]
    assert phase == {"phase": "edited programs", "seconds": 50.0, "processor_s": 25.0, "times": 3}
    assert document.as_json()["program"]["processor_s"] == 10.0
    for verbose in (False, True):
        path = tmp_path / str(verbose)
        with path.open("w") as stream:
            print_report(document, stream, verbose)
        assert ("2.5 times the processor time of the captured run" in path.read_text()) is verbose
