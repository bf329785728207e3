"""The engines with real parts: processes of this machine, submitit's executor on it, a Ray of two CPUs."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import psutil
import pytest

from jaxlint_runtime import compat
from jaxlint_runtime.engines.choosing import open_engine, parse_workers
from jaxlint_runtime.engines.dispatch import Dispatch
from jaxlint_runtime.engines.placement_jobs import PlacementJobs
from jaxlint_runtime.protocol.jobs import Capture
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.protocol.worker_events import Left
from jaxlint_runtime.request import CannotRun, Request
from jaxlint_runtime.run import Listener, Run
from jaxlint_runtime.sharding.compiling import _packed
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.measuring_client import measure
from jaxlint_runtime.workers.scratch_copy import Scratch
from tests.helpers.processes import boots, left_running, running
from tests.helpers.worker_runs import TWO_FUNCTIONS, verify_source


@dataclass
class Stored:
    """What a program left, in the order of its lines, and what one process proves of the first."""

    request: Request
    left: list[Left]
    versions: dict[str, str]
    proven: list[dict[str, Any]]

    def run(self, workers: str, left: list[Left] | None = None) -> Run:
        """The same by an engine."""
        request = replace(self.request, workers=parse_workers(workers, 60.0))
        run = Run(request, Listener())
        run.document.versions = self.versions
        assert request.workers is not None
        with contextlib.closing(open_engine(request.workers, lambda stream, data: None)) as engine:
            Dispatch(run, request.capture(), None, self.left if left is None else left, engine).run()
        return run


def figures(run: Run) -> list[dict[str, Any]]:
    """Results without what every measurement changes."""
    return [
        {
            **{name: one[name] for name in ("function", "line", "candidate", "status", "base")},
            "evidence": one["evidence"].partition("; time from")[0],
            "bytes": [one[when] and one[when]["peak_bytes"] for when in ("before", "after")],
            "numerics": one["numerics"],
        }
        for _, one in run.document.results
    ]


@pytest.fixture(scope="module")
def stored() -> Iterator[Stored]:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.chdir(folder)
        patch.setenv("JAX_PLATFORMS", "cpu")
        kept: list[Left] = []

        def keep(self: Verification, capture: Capture, scratch: Scratch | None) -> None:
            for one in sorted(self._left, key=lambda one: one.line):
                kept.append(replace(one, folder=shutil.copytree(one.folder, folder / one.function)))

        patch.setattr(Verification, "_measure", keep)
        ran = verify_source(folder, TWO_FUNCTIONS, transforms=("donation",), seconds=0.3)
        alone = Run(ran.request)
        for target, result in measure(alone, ran.request.capture(), None, kept[:1]):
            alone.report(result, target)
        yield Stored(ran.request, kept, ran.document.versions, figures(alone))


def test_a_job_of_this_machine_proves_what_its_own_process_proves(stored: Stored) -> None:
    assert [(one["candidate"], one["status"]) for one in stored.proven] == [("donation", "verified")]
    before = running()
    run = stored.run("local:2", stored.left[:1])
    assert figures(run) == stored.proven
    assert [one["version"] for one in run.document.inspections] == ["original", "donation"]
    assert run.document.peaks
    assert not left_running(before)


def test_a_job_that_is_killed_costs_its_function(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []

    def kill(self: Dispatch, away: list[Any]) -> None:
        if not killed and away[0].heard is not None:
            killed.append(away[0].job.pid)
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Dispatch, "_progress", kill)
    (result,) = stored.run("local:1", stored.left[:1]).document.results
    assert result[1]["status"] == "failed"
    assert "its job was killed by SIGKILL" in result[1]["reason"]


def test_other_versions_of_jax_are_refused(stored: Stored) -> None:
    run = replace(stored, versions={"jax": "0.1"}).run("local:1", stored.left[:1])
    assert "and this needs jax 0.1, as where the program ran" in run.document.results[0][1]["reason"]


@pytest.mark.skipif(importlib.util.find_spec("submitit") is None, reason="needs the extra `submitit`")
def test_submitit_proves_the_same_and_leaves_nothing(stored: Stored) -> None:
    before = running()
    assert (
        figures(stored.run("submitit:gpu,slurm_gres=gpu:1,cluster=local", stored.left[:1])) == stored.proven
    )
    assert sorted(os.listdir()) == ["first", "program.py", "second"]
    assert not left_running(before)


@pytest.mark.parametrize("workers", ["local:1", "submitit:cluster=local"])
def test_an_interrupt_ends_the_jobs(
    workers: str, stored: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if workers != "local:1":
        pytest.importorskip("submitit")
    started: list[psutil.Process] = []
    before = running()

    def interrupt(self: Dispatch, away: list[Any]) -> None:
        found = [one for one in psutil.Process().children(recursive=True) if one.pid not in before]
        if sum(map(boots, found)) == 2:
            started.extend(found)  # the errand, and its measuring process
            raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Dispatch, "_progress", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stored.run(workers, stored.left[:1])
    assert not psutil.wait_procs(started, timeout=10)[1]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra `ray`")
def test_ray_proves_the_same_and_a_task_that_is_killed_costs_its_function(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(self: Dispatch, away: list[Any]) -> None:
        if away[0].over and away[1].is_running:  # at once: a busy machine may hear of it once it is done
            for one in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if one.name().startswith("ray::work"):
                        one.kill()

    temporary = Path(tempfile.mkdtemp(dir="/tmp"))  # sockets have short names
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(Dispatch, "_progress", kill)
    run = stored.run("ray")
    assert os.listdir(temporary) == []
    temporary.rmdir()
    assert figures(run)[:1] == stored.proven
    assert run.document.results[1][1]["status"] == "failed"
    assert "its job ended with WorkerCrashedError" in run.document.results[1][1]["reason"]
    assert not [one for one in psutil.Process().children(recursive=True) if "ray" in one.name()]


MESH = (("data", 1),)


def placed(workers: str, questions: int, meanwhile: Any = None) -> tuple[list[PlacementAnswer], Run]:
    """The answers of an engine's jobs to questions about one small program."""
    lowered = compat.jit(lambda x: x @ x).lower(jax.ShapeDtypeStruct((64, 64), np.float32))
    request = compat.compile_request(lowered, None)
    assert request is not None
    run = Run(Request("script", "a.py", mesh=MESH, workers=parse_workers(workers, 120.0)))
    answers: list[PlacementAnswer] = []
    packed = [_packed(request.module), _packed(request.options)]
    found = run.request.workers
    assert found is not None
    jobs = PlacementJobs(run, found, lambda: open_engine(found, lambda stream, data: None), answers.append)
    with contextlib.closing(jobs):
        for number in range(questions):
            jobs.ask(PlacementQuestion(number, "cpu", MESH, request.devices, *packed, {}))
        while jobs.is_busy:
            time.sleep(min(0.2, jobs.look()))
            if meanwhile is not None:
                meanwhile(jobs)
    return answers, run


def of_a_product(answers: list[PlacementAnswer]) -> list[tuple[int, bool]]:
    """The numbers of answers, and whether their figures are those of the program."""
    return sorted((one.number, (one.figures or {}).get("flops") == 2 * 64**3) for one in answers)


@pytest.mark.parametrize("workers", ["local:2", "submitit:cluster=local,jobs=1", "ray:jobs=1"])
def test_jobs_compile_placements(workers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not workers.startswith("local"):
        pytest.importorskip(workers.partition(":")[0])
    before = running()
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))  # sockets have short names
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    answers, run = placed(workers, 3)
    assert of_a_product(answers) == [(0, True), (1, True), (2, True)]
    assert run.document.notes == []
    assert os.listdir(tmp_path) == os.listdir(temporary) == []
    temporary.rmdir()
    assert not left_running(before)


def test_the_placement_of_a_killed_job_is_compiled_by_another_one() -> None:
    killed: list[int] = []

    def kill(jobs: PlacementJobs) -> None:
        busy = [one for one in jobs._sent if one.asked is not None]
        if busy and not killed:
            killed.append(busy[0].job.pid)  # type: ignore[attr-defined]
            os.kill(killed[0], signal.SIGKILL)

    answers, run = placed("local:1", 2, kill)
    assert of_a_product(answers) == [(0, True), (1, True)]
    assert run.document.notes == [
        "placements: a job was killed by SIGKILL (killed); most likely out of memory"
    ]


def test_a_cluster_that_nobody_answers_for_is_said_in_one_line() -> None:
    pytest.importorskip("ray")
    for address in ("127.0.0.1:1", "ray://127.0.0.1:1"):
        with pytest.raises(CannotRun, match=r"--workers ray: cannot be reached: .*refused"):
            open_engine(parse_workers(f"ray:{address}", 1.0), lambda stream, data: None)


@pytest.mark.parametrize("text", ["", "local", "local:0", "local:x", "slurm", "ray:a,b", "local:2,x=1"])
def test_what_names_no_engine_is_said_in_one_line(text: str) -> None:
    with pytest.raises(CannotRun, match=r"names no engine; use local:N, submitit\[:PARTITION\] or ray"):
        parse_workers(text, 1.0)


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for name in ("ray", "submitit"):
        with pytest.raises(CannotRun, match=rf'pip install "jaxlint-suite\[{name}\]"'):
            parse_workers(name, 1.0)


def test_an_engine_is_named_with_its_place_and_its_options() -> None:
    found = parse_workers("submitit:gpu,slurm_gres=gpu:1,timeout_min=30", 5.0)
    assert (found.place, found.options) == ("gpu", {"slurm_gres": "gpu:1", "timeout_min": "30"})
    found = parse_workers("ray:ray://head:10001,num_gpus=4", 5.0)
    assert (found.place, found.options) == ("ray://head:10001", {"num_gpus": "4"})
    assert parse_workers("ray:num_gpus=1", 5.0).place is None
    found = parse_workers("submitit:cpu,jobs=16", 5.0)
    assert (found.side_by_side, found.options) == (16, {})
    for text in ("ray:jobs=0", "ray:jobs=x"):
        with pytest.raises(CannotRun, match="is no number of jobs"):
            parse_workers(text, 5.0)


def test_options_that_an_engine_does_not_know_are_said_in_one_line() -> None:
    pytest.importorskip("submitit")
    for text in ("submitit:slurm_no_such=1", "submitit:folder=/nowhere", "submitit:cluster=abacus"):
        with pytest.raises(CannotRun, match=r"--workers submitit: .*(no_such|/nowhere|abacus)"):
            open_engine(parse_workers(text, 1.0), lambda stream, data: None)
    assert not [name for name in os.listdir() if name.startswith(".jaxlint-jobs")]
