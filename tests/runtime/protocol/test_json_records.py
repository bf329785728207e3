"""Jobs and events come back from the wire as they were sent; what is of another version is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from jaxlint_runtime.model import Cost, Interval, Numerics, Proposed, Result, Status
from jaxlint_runtime.protocol import errands, jobs, worker_events
from jaxlint_runtime.protocol.jobs import Assignment, Launch, read_question
from jaxlint_runtime.protocol.json_records import encode, from_plain, to_plain
from jaxlint_runtime.protocol.worker_events import read_event

LAUNCH = Launch("script", "a.py", ("--fast",), ("/project",), examples=jobs.Examples(None, {"batch": 2}))
RESULT = Result(
    "step",
    "/project/a.py",
    3,
    "JAX601",
    "donation",
    Status.VERIFIED,
    "run here",
    "smaller",
    before=Cost(time_ms=Interval(2.0, 1.5, 2.5), peak_bytes=100, flops=7),
    after=Cost(),
    numerics=Numerics(0.0, 1e-7, None, 1e-5, True),
    parameters={"argnums": [0]},
    pairs_ms=((2.0, 1.0), (2.1, 1.1)),
    ratios={"total": Interval(1.5, 1.4, 1.6)},
)
JOBS: list[jobs.Job] = [
    jobs.Capture(
        LAUNCH, jobs.Leave("/left", (("/project/a.py", 3, "cpu"),)), flagged=(("/project/a.py", 9),)
    ),
    jobs.Capture(LAUNCH, jobs.Shard((("data", 4), ("model", 2))), only=(("/project/a.py", "step"),)),
    jobs.Capture(LAUNCH, jobs.Serve("cpu"), jobs.Until(None, True, None), undonated=True),
    jobs.Capture(LAUNCH),
    jobs.Trial(LAUNCH, (("/project/a.py", "step"),), cut_at=("/project/a.py", "step", 7)),
    jobs.Measure(jobs.Trying(("donation",), 0.5, costs=True)),
]
EVENTS: list[worker_events.Event] = [
    worker_events.Hello(7, "3.11"),
    worker_events.Watch([worker_events.Busy("step", "/project/a.py", 3, 4, 0, 1)], 1.5),
    worker_events.Ran(
        worker_events.Ended("finished", 0, "done"), 1.0, 0.5, 1.4, 3, None, ("/a.py", "step", 7), [], 1, None
    ),
    worker_events.Ran(
        *(worker_events.Ended("stopped", 0, "after 7 calls"), 1.0, 0.5, 1.4, 3, 9, None, [], 1),
        worker_events.Compared(2, 9, "call 1 of step: other values", RESULT.numerics, 1e-6),
    ),
    worker_events.Optimising("step", "/project/a.py", 3, "cpu"),
    worker_events.Left(
        *("step", "/project/a.py", 3, "cpu", "/left", {"JAX_PLATFORMS": "cpu"}),
        proposed={"donation": [Proposed("donation", "donation", True, 8.0)], "remat": RESULT},
        together=[["a", "b"]],
        unexported={"bf16": "a callback"},
    ),
    worker_events.Ready(0.5, Cost(peak_bytes=3), [RESULT]),
    worker_events.Proven(RESULT),
    worker_events.Decided("cpu", RESULT),
    worker_events.Constants("/project/a.py", 3, [{"shape": [2], "dtype": "float32", "nbytes": 8}]),
    worker_events.Done(),
]
QUESTIONS: list[jobs.Question] = [
    jobs.Open("/left", "cpu", "f00d"),
    jobs.Prove(("bf16",), ("donation",)),
    jobs.TellPeaks("cpu"),
]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: type(job).__name__)
def test_a_job_comes_as_it_was_given(job: jobs.Job) -> None:
    given = Assignment(job, "/tmp/jaxlint-run-1")
    assert Assignment.from_json(encode(given).decode()) == given


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_as_it_was_sent(event: worker_events.Event) -> None:
    assert read_event(json.loads(encode(event))) == event


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_a_question_comes_as_it_was_asked(question: jobs.Question) -> None:
    assert read_question(encode(question).decode()) == question


@pytest.mark.parametrize(
    "line",
    [
        {"is": "unheard-of"},
        {"is": "note", "message": "one", "more": "field"},
        {"is": "watch", "seconds": 1.0},
        {"is": "decided", "target": "cpu", "result": {**to_plain(RESULT), "status": "unheard-of"}},
    ],
)
def test_a_line_of_another_version_is_refused(line: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        read_event(line)


def test_what_was_not_finite_is_no_number() -> None:
    """JSON knows neither infinities nor NaN: a record that needs a number has NaN for both."""
    far = Numerics(math.inf, math.nan, None, 1e-5, False)
    found = from_plain(Numerics, json.loads(encode(far)))
    assert math.isnan(found.max_abs)
    assert math.isnan(found.max_rel)
    assert found.gradient_cosine is None
    assert from_plain(Cost, json.loads(encode(Cost(flops=math.inf)))).flops is None


def test_a_job_and_what_is_known_move_into_a_scratch_copy() -> None:
    def move(path: str) -> str:
        return path.replace("/project", "/copy")

    leave, shard, serve, plain, trial, measure = (job.moved("/project", "/copy", move) for job in JOBS)
    for job in (leave, shard, serve, plain, trial):
        assert isinstance(job, jobs.Capture | jobs.Trial)
        assert (job.launch.roots, job.launch.relocated) == (("/copy",), ("/project", "/copy"))
    assert "/project" not in encode(dataclass_without_launch(leave)).decode()
    assert "/project" not in encode(dataclass_without_launch(shard)).decode()
    assert "/project" not in encode(dataclass_without_launch(trial)).decode()
    assert measure == JOBS[-1]
    known = jobs.Known([{"path": "/project/a.py", "line": 3}], [("/project/a.py", 3, [0, "state"])])
    assert "/project" not in encode(known.moved(move)).decode()


def dataclass_without_launch(job: jobs.Job) -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(job)
    del plain["launch"]
    return plain


def test_an_errand_and_what_is_said_of_it_come_as_they_were_given() -> None:
    (left,) = (one for one in EVENTS if isinstance(one, worker_events.Left))
    errand = errands.Errand(left, jobs.Trying(("bf16",), 0.5), 600.0, 2.5, python="/python", peaks=True)
    assert errands.read_errand(encode(errand).decode()) == errand
    for event in (errands.Begun("n1"), errands.Alive(), errands.Deferred(("a",), ("b",), "why"), *EVENTS):
        assert errands.read_line(json.loads(encode(event))) == event
