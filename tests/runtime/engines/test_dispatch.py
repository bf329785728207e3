"""Jobs of an engine that says what a test lets it say: the order of reports, and what is lost with a job."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jaxlint_runtime.engines import dispatch
from jaxlint_runtime.engines.dispatch import Dispatch
from jaxlint_runtime.engines.engine import LostEngine
from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.protocol.errands import Begun, Deferred, Errand
from jaxlint_runtime.protocol.json_records import encode
from jaxlint_runtime.protocol.worker_events import Decided, Device, Done, Error, Left, Note, Progress
from jaxlint_runtime.request import Request, Workers
from jaxlint_runtime.run import Run


class Job:
    """What it says in each round, and how it ends after the last."""

    def __init__(self, *rounds: object, end: str | None = "") -> None:
        self.rounds = list(rounds)
        self.end = end
        self.cancelled = False

    def lines(self) -> Sequence[bytes]:
        said = self.rounds.pop(0) if self.rounds else ()
        return [encode(one).rstrip() for one in (said if isinstance(said, tuple) else (said,))]

    def ended(self) -> str | None:
        return None if len(self.rounds) > 1 else self.end

    def cancel(self) -> None:
        self.cancelled = True


class Engine:
    name, pause = "the cluster", 0.0

    def __init__(self, jobs: dict[str, Job], side_by_side: int | None = None) -> None:
        self.jobs = jobs
        self.side_by_side = side_by_side
        self.batches: list[list[str]] = []
        self.errands: list[Errand] = []
        self.gone: Callable[[], bool] = lambda: False

    def submit(self, errands: Sequence[Errand]) -> Sequence[Job]:
        self.errands += errands
        self.batches.append([one.left.function for one in errands])
        return [self.jobs[one.left.function] for one in errands]

    def look(self) -> None:
        if self.gone():
            raise LostEngine("gives no answer")

    def close(self) -> None:
        pass


def result(function: str, candidate: str = "donation") -> Decided:
    return Decided("cpu", Result(function, "a.py", 1, None, candidate, Status.VERIFIED, "measured", "better"))


def left(function: str, target: str = "cpu", **others: object) -> Left:
    return Left(function, "a.py", 1, target, "/left", {}, **others)  # type: ignore[arg-type]


def sent(engine: Engine, *lefts: Left, wait: float = 600.0, **others: object) -> Run:
    """The run after all jobs of these functions."""
    run = Run(Request("script", "a.py", workers=Workers("ray", wait=wait), **others))  # type: ignore[arg-type]
    Dispatch(run, run.request.capture(), None, lefts, engine).run()
    return run


def reported(run: Run) -> list[tuple[str, str]]:
    return [(one["function"], one["status"]) for _, one in run.document.results]


def reason(run: Run) -> str:
    ((_, one),) = run.document.results
    return str(one["reason"])


def test_results_come_in_the_order_of_the_functions_whichever_job_is_first() -> None:
    slow, quick = Job(Begun("n1"), (), (), result("slow")), Job((Begun("n2"), result("quick")), end="")
    run = sent(engine := Engine({"slow": slow, "quick": quick}), left("slow"), left("quick"))
    assert engine.batches == [["slow", "quick"]]
    assert reported(run) == [("slow", "verified"), ("quick", "verified")]
    assert "; on n1" not in run.document.results[0][1]["evidence"]  # the device was not told


def test_a_result_of_another_machine_names_it_and_an_unlike_device_is_told() -> None:
    job = Job((Begun("n1"), Device("NVIDIA H100"), result("step"), result("step", "bf16")))
    run = Run(Request("script", "a.py", workers=Workers("ray")))
    run.document.device = "cpu"
    Dispatch(run, run.request.capture(), None, [left("step")], Engine({"step": job})).run()
    assert [one["evidence"] for _, one in run.document.results] == ["measured; on n1 (NVIDIA H100)"] * 2
    assert run.document.notes == ["the program ran on cpu, and n1 measures on NVIDIA H100"]


def test_a_job_that_dies_costs_its_own_function_from_there_on() -> None:
    dies = Job((Begun("n1"), result("step"), Progress("step: bf16")), end="ended in the state NODE_FAIL")
    engine = Engine({"step": dies, "other": Job((Begun("n2"), result("other")))})
    run = sent(engine, left("step"), left("other"))
    assert reported(run) == [("step", "verified"), ("step", "failed"), ("other", "verified")]
    assert run.document.results[1][1]["reason"] == "its job ended in the state NODE_FAIL on n1 during bf16"
    assert run.document.notes == ["step: its job ended in the state NODE_FAIL on n1 during bf16"]


def test_a_job_that_no_machine_takes_is_cancelled() -> None:
    job = Job((), (), (), end=None)
    run = sent(Engine({"step": job}), left("step"), wait=0.0)
    assert job.cancelled
    assert reported(run) == [("step", "not-applicable")]
    assert reason(run) == "not tried: the cluster started no job for it in 0 s (--workers-wait)"


def test_a_job_that_falls_silent_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_SILENT", 0.0)
    job = Job(Begun("n1"), (), (), end=None)
    run = sent(Engine({"step": job}), left("step"))
    assert job.cancelled
    assert reason(run) == "its job did not answer for 0 s on n1"


def test_a_job_that_the_cluster_starts_again_is_not_counted_twice() -> None:
    job = Job((Begun("n1"), result("step")), (Begun("n2"), result("step")), end=None)
    run = sent(Engine({"step": job}), left("step"))
    assert job.cancelled
    assert reported(run) == [("step", "verified"), ("step", "failed")]


def test_a_cluster_that_is_gone_costs_what_runs_on_it() -> None:
    engine = Engine({"step": Job(Begun("n1"), (), (), end=None)})
    engine.gone = lambda: bool(engine.batches)
    assert reason(sent(engine, left("step"))) == "the cluster gives no answer"


@pytest.mark.parametrize(("refused", "status"), [(True, "not-applicable"), (False, "failed")])
def test_a_machine_that_cannot_do_it_says_why(refused: bool, status: str) -> None:
    job = Job((Begun("n1"), Error("n1 has jax 0.9", refused)))
    run = sent(Engine({"step": job}), left("step"))
    assert reported(run) == [("step", status)]
    assert "n1 has jax 0.9" in reason(run)


def test_times_are_taken_alone_where_jobs_share_this_machine() -> None:
    names = {"a": "cpu", "b": "tpu:v5e-1x1", "c": "cpu", "d": "tpu:v5e-1x1", "e": "tpu:v5e-2x2"}
    engine = Engine({name: Job(Begun("here"), result(name)) for name in names}, side_by_side=2)
    run = sent(engine, *(left(name, target) for name, target in names.items()))
    assert engine.batches == [["b", "d"], ["e"], ["a"], ["c"]]
    assert [one for one, _ in reported(run)] == list("abcde")
    assert [one.left.function for one in engine.errands if one.peaks] == ["c"]  # once for a device at hand


def test_what_needs_the_program_is_done_here_once_no_job_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def at_home(run: Run, capture: object, scratch: object, one: Left, deferred: Deferred) -> Result:
        assert not engine.jobs["other"].rounds
        done.append(deferred.reason)
        return result(one.function, "+".join(deferred.parts)).result

    def whole(run: Run, capture: object, scratch: object, lefts: Sequence[Left]) -> object:
        return [(one.target, result(one.function, "whole").result) for one in lefts]

    monkeypatch.setattr(dispatch, "measure_deferred", at_home)
    monkeypatch.setattr(dispatch, "measure", whole)
    deferred = Deferred(("a", "b"), (), "a + b was not lowered in the first run")
    jobs = {
        "step": Job((Begun("n1"), result("step"), deferred, Done()), end=None),
        "other": Job(Begun("n2"), (), (), result("other")),
    }
    engine = Engine(jobs)
    run = sent(engine, left("step"), left("prints", refused="it calls back into Python"), left("other"))
    assert [(one["function"], one["candidate"]) for _, one in run.document.results] == [
        *(("step", "donation"), ("step", "a+b"), ("prints", "whole"), ("other", "donation")),
    ]
    assert done == [deferred.reason]
    assert engine.batches == [["step", "other"]]


def test_an_interrupt_keeps_what_later_functions_had() -> None:
    engine = Engine(
        {"slow": Job(Begun("n1"), (), (), end=None), "quick": Job((Begun("n2"), result("quick")))}
    )
    rounds = iter(range(3))

    def gone() -> bool:
        if next(rounds) == 2:
            raise KeyboardInterrupt
        return False

    engine.gone = gone
    run = Run(Request("script", "a.py", workers=Workers("ray")))
    with pytest.raises(KeyboardInterrupt):
        Dispatch(run, run.request.capture(), None, [left("slow"), left("quick")], engine).run()
    assert reported(run) == [("quick", "verified")]


def test_nothing_is_sent_once_the_budget_is_spent() -> None:
    engine = Engine({})
    run = sent(engine, left("step"), ends=-math.inf)
    assert engine.batches == []
    assert reason(run) == "not tried: the --budget is spent"


def test_an_errand_has_the_limits_of_the_run() -> None:
    engine = Engine({"step": Job((Begun("n1"), result("step")))})
    sent(engine, left("step"), timeout=7.0, memory_limit=5, device_memory=9, python="/other/python")
    (errand,) = engine.errands
    assert (errand.timeout, errand.memory_limit, errand.trying.device_memory) == (7.0, 5, 9)
    assert errand.python == "/other/python"
    assert dataclasses.replace(errand, versions={}).seconds_left is None


@pytest.mark.parametrize("over", [Done(), Error("no memory")])
def test_what_an_earlier_job_told_needs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: Done | Error
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said = [Begun("node"), Progress("f: donation"), Note("as it is"), result("f"), over]
    before = sent(Engine({"f": Job(tuple(said))}), left("f", content="digest"), proofs=True)
    engine = Engine({"f": Job(tuple(said)), "g": Job((Begun("node"), result("g"), Done()))})
    moved = dataclasses.replace(left("f", content="digest"), line=7)
    after = sent(engine, moved, left("g", content="other"), proofs=True)
    if isinstance(over, Error):
        assert engine.batches == [["f", "g"]]
        return
    assert engine.batches == [["g"]]
    (_, first), (_, second) = after.document.results
    assert {**first, "line": 1, "earlier": ""} == before.document.results[0][1]
    assert (first["line"], second["function"]) == (7, "g")
    assert first["earlier"].startswith("20")
    assert not second["earlier"]
    assert "as it is" in after.document.notes


def test_nothing_is_taken_from_earlier_jobs_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for _ in range(2):
        engine = Engine({"f": Job((Begun("node"), result("f"), Done()))})
        sent(engine, left("f", content="digest"))
        assert engine.batches == [["f"]]
