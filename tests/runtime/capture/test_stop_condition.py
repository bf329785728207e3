"""When a run is stopped that was given no number of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from jaxlint_runtime.capture.stop_condition import settled


@dataclass
class Identity:
    qualname: str


@dataclass
class Record:
    """What the rule reads of a function: times in seconds."""

    identity: Identity
    calls: int
    weight: float = 0.0
    updates: bool = False
    first_end: float = 1.0
    last_end: float = 100.0
    inner_calls: int = 0


def record(name: str, calls: int, **values: Any) -> Any:
    return Record(Identity(name), calls, **values)


def reason(*records: Any, run_for: float | None = 60.0, now: float = 100.0) -> str | None:
    return settled(records, 20, run_for, now)


STEP = record("step", 25, weight=3.0, updates=True)


def test_training_ends_soon_after_its_calls_were_seen() -> None:
    assert reason(STEP) == "after 25 calls of step"
    assert reason(record("step", 19, updates=True)) is None
    late = record("step", 25, updates=True, first_end=99.0)
    assert reason(late) is None
    assert reason(late, now=101.5) == "after 25 calls of step"


def test_the_heaviest_must_have_its_calls_and_not_the_busiest() -> None:
    act = record("act", 500, weight=0.5, updates=True)
    assert reason(act, record("update", 3, weight=6.0)) is None
    assert reason(act, record("update", 20, weight=40.0, updates=True)) == "after 20 calls of update"
    # what is over is not waited for: three times its usual time went by
    assert reason(act, record("update", 3, weight=6.0, last_end=90.0)) == "after 500 calls of act"
    assert reason(act, record("update", 3, weight=12.0, last_end=90.0)) is None


@pytest.mark.parametrize(("run_for", "patience"), [(60.0, 30.0), (20.0, 10.0), (None, 30.0), (600.0, 30.0)])
def test_a_program_that_only_samples_is_waited_for(run_for: float | None, patience: float) -> None:
    sample = record("sample", 40, weight=5.0, first_end=100.0, last_end=200.0)
    assert reason(sample, run_for=run_for, now=100.0 + patience - 0.5) is None
    found = reason(sample, run_for=run_for, now=100.0 + patience)
    assert found == "after 40 calls of sample; no function seems to train"


def test_functions_that_were_never_called_are_waited_for_and_named() -> None:
    idle = record("evaluate", 0)
    assert reason(STEP, idle, now=20.0) is None
    assert reason(STEP, idle) == "after 25 calls of step; evaluate was never called"
    assert reason(STEP, record("loss", 0, inner_calls=2), now=20.0) == "after 25 calls of step"


@pytest.mark.parametrize(
    ("started", "run_for", "patience"),
    [(None, 60.0, 2.0), (99.5, 60.0, 2.0), (88.0, 60.0, 12.0), (10.0, 60.0, 30.0), (88.0, 20.0, 10.0)],
)
def test_what_the_host_has_not_called_yet_is_waited_for_as_long_as_all_else_took(
    started: float | None, run_for: float, patience: float
) -> None:
    step = record("step", 90, weight=5.0, updates=True, first_end=100.0, last_end=200.0)
    assert settled([step], 20, run_for, 100.0 + patience - 0.5, started) is None
    assert settled([step], 20, run_for, 100.0 + patience, started) == "after 90 calls of step"
