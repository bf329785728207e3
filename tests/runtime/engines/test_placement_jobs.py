"""Jobs that compile placements, on an engine that says what a test lets it say: who is asked, and what a lost job costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from jaxlint_runtime.engines import placement_jobs
from jaxlint_runtime.engines.engine import LostEngine
from jaxlint_runtime.engines.placement_jobs import PlacementJobs
from jaxlint_runtime.protocol.errands import Begun, Errand
from jaxlint_runtime.protocol.json_records import encode, from_plain
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.protocol.worker_events import Error
from jaxlint_runtime.request import Request, Workers
from jaxlint_runtime.run import Run

MESH = (("data", 2),)


@dataclass
class Job:
    """Answers each question, unless it has ended before."""

    begins: bool = True
    end: str | None = None
    answers: bool = True
    refuses: str | None = None
    asked: list[int] = field(default_factory=list)
    said: list[object] = field(default_factory=list)
    cancelled: bool = False

    def lines(self) -> Sequence[bytes]:
        said, self.said = self.said, []
        if self.begins:
            self.begins, said = False, [Begun("n1"), *([Error(self.refuses, True)] if self.refuses else [])]
        return [encode(one).rstrip() for one in said]

    def ask(self, question: bytes) -> None:
        number = from_plain(PlacementQuestion, json.loads(question)).number
        self.asked.append(number)
        if self.answers:
            self.said.append(PlacementAnswer(number, {"flops": 1.0}))
        else:
            self.end = "was killed"

    def ended(self) -> str | None:
        return self.end

    def cancel(self) -> None:
        self.cancelled = True


class Engine:
    name, pause, side_by_side = "the cluster", 0.0, None

    def __init__(self, *jobs: Job) -> None:
        self.jobs = list(jobs)
        self.started: list[Job] = []
        self.errands: list[Errand] = []
        self.gone: Callable[[], bool] = lambda: False
        self.closed = False

    def submit(self, errands: Sequence[Errand]) -> Sequence[Job]:
        self.errands += errands
        new = [self.jobs.pop(0) if self.jobs else Job() for _ in errands]
        self.started += new
        return new

    def look(self) -> None:
        if self.gone():
            raise LostEngine("gives no answer")

    def close(self) -> None:
        self.closed = True


def question(number: int) -> PlacementQuestion:
    return PlacementQuestion(number, "cpu", MESH, (0, 1), "module", "options", {"JAX_FLAG": "1"})


def answered(
    engine: Engine, count: int, questions: int, wait: float = 600.0
) -> tuple[list[PlacementAnswer], Run]:
    """The answers to so many questions, which are asked at once."""
    run = Run(Request("script", "a.py", targets=("tpu:v5e-2x1",), mesh=MESH))
    answers: list[PlacementAnswer] = []
    jobs = PlacementJobs(run, Workers("ray", side_by_side=count, wait=wait), lambda: engine, answers.append)
    for number in range(questions):
        jobs.ask(question(number))
    for _ in range(20):
        jobs.look()
    assert not jobs.is_busy
    jobs.close()
    assert engine.closed
    return answers, run


def test_each_job_works_on_one_question_and_gets_the_next_with_its_answer() -> None:
    engine = Engine()
    answers, run = answered(engine, 2, 5)
    assert sorted(one.number for one in answers) == [0, 1, 2, 3, 4]
    assert [job.asked for job in engine.started] == [[0, 2, 4], [1, 3]]
    assert run.document.notes == []
    (errand,) = {repr(one): one for one in engine.errands}.values()
    assert errand.placing is not None
    assert (errand.placing.mesh, errand.placing.targets) == (MESH, ("tpu:v5e-2x1",))
    assert errand.left.environment == {"JAX_FLAG": "1"}
    assert errand.only_compiles


def test_the_question_of_a_lost_job_goes_to_another_one() -> None:
    engine = Engine(Job(answers=False), Job())
    answers, run = answered(engine, 2, 3)
    assert sorted(one.number for one in answers) == [0, 1, 2]
    assert all(one.figures for one in answers)
    assert len(engine.started) == 3  # the lost one is replaced
    assert run.document.notes == ["placements: a job was killed, on n1"]


def test_a_question_that_two_jobs_are_lost_over_is_lost() -> None:
    answers, _ = answered(Engine(Job(answers=False), Job(answers=False)), 1, 1)
    assert [(one.number, one.reason, one.figures) for one in answers] == [
        (0, "a job was killed, on n1", None)
    ]


def test_the_process_of_the_program_compiles_where_no_job_is_left() -> None:
    for refuses in (None, "n1 has jax 0.1"):
        engine = Engine(*(Job(answers=False, refuses=refuses) for _ in range(4)))
        answers, run = answered(engine, 2, 3)
        assert {one.number for one in answers if one.at_home} == {0, 1, 2} - {
            one.number for one in answers if one.reason
        }
        assert run.document.notes[-1] == "placements: no job is left; they are compiled where the program ran"
        assert len(engine.started) == 4


def test_a_cluster_that_starts_nothing_is_not_waited_for() -> None:
    engine = Engine(Job(begins=False), Job(begins=False))
    answers, run = answered(engine, 2, 2, wait=0.0)
    assert [one.at_home for one in answers] == [True, True]
    assert "the cluster started no job in 0 s (--workers-wait)" in run.document.notes[0]
    assert all(job.cancelled for job in engine.started)
    assert len(engine.started) == 2


def test_a_cluster_that_is_gone_leaves_the_rest_to_the_process_of_the_program() -> None:
    engine = Engine()
    engine.gone = lambda: True
    answers, run = answered(engine, 2, 3)
    assert [one.at_home for one in answers] == [True] * 3
    assert run.document.notes == [
        "placements: the cluster gives no answer; they are compiled where the program ran"
    ]


def test_a_job_that_falls_silent_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Job):
        def ask(self, question: bytes) -> None:
            self.asked.append(0)

    monkeypatch.setattr(placement_jobs, "_SILENT", 0.0)
    silent = Silent()
    answers, run = answered(Engine(silent), 1, 1)
    assert silent.cancelled
    assert [one.figures is not None for one in answers] == [True]
    assert run.document.notes == ["placements: a job did not answer for 0 s, on n1"]
