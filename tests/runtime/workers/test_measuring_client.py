"""Candidates are measured in processes that did not capture; what cannot be left for them runs again, or is refused."""

from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path

import psutil
import pytest

from jaxlint_runtime.model import Proposed
from jaxlint_runtime.protocol.worker_events import Left, Ready
from jaxlint_runtime.request import Request
from jaxlint_runtime.run import Listener, Run
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers import measuring_client
from tests.helpers.processes import boots, left_running, running
from tests.helpers.worker_runs import TWO_FUNCTIONS, results_of, verify_source

PROGRAM = """
import os, sys
from pathlib import Path
import jax, jax.numpy as jnp

Path("pid").write_text(str(os.getpid()))
jax.config.update("jax_enable_x64", True)

@jax.jit
def track(average, key, sample):
    {extra}
    return average + 0.1 * (sample + jax.random.normal(key, sample.shape) - average), jax.random.split(key)[0]

average, key = jnp.zeros((256, 256), jnp.float64), jax.random.key(0, impl="rbg")
for step in range(6):
    average, key = track(average, key, jnp.ones((256, 256)) * step)
"""
PLAIN = PROGRAM.format(extra="")
PRINTS = PROGRAM.format(extra="jax.debug.callback(lambda v: None, sample[0, 0])")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_apply_never_writes_is_not_tried_for_it():
    left = Left("step", "program.py", 1, "cpu", "here", {}, {}, [])
    small = measuring_client._too_small(left, Proposed("remat:all", "remat", False, 16 * 2**10))
    assert small is not None
    assert (small.status.value, small.candidate) == ("not-applicable", "remat:all")
    assert small.reason.startswith("not tried: it saves about 16 KiB")
    assert measuring_client._too_small(left, Proposed("remat:all", "remat", False, 2.0**19)) is None
    donation = Proposed("donation", "donation", True, 107.0 * 2**10)
    assert measuring_client._too_small(left, donation) is None
    little = measuring_client._too_small(left, donation, least=2**20)  # in a program that was edited just now
    assert little is not None
    assert little.reason.startswith("not tried: it saves at most 107 KiB")


@pytest.mark.parametrize(("seconds", "where"), [(5.0, "again"), (500.0, None)])
def test_what_was_not_left_together_runs_again_where_the_program_is_short(seconds, where):
    """Two of several kinds are left together; which are best is known only once each is measured."""
    request = Request("script", "program.py")
    task = measuring_client._Task(Run(request, run_seconds=seconds), request.capture(), None)
    fresh = measuring_client._Process(task)
    fresh._opened = ("here", Ready())
    proposed = {"donation": [Proposed("donation", "donation", True, 1.0)]}
    left = Left("step", "program.py", 1, "cpu", "here", {}, proposed, [["a", "b"]])
    function = measuring_client._Function(left, fresh, None, task)
    assert function.staged(("donation", "b", "a"))
    assert function._process(("donation", "b", "a")) is fresh
    assert function.staged(("c",))
    assert function.staged(("a", "c")) == (where == "again")
    if where == "again":
        process = function._process(("a", "c"))
        assert isinstance(process, measuring_client._Again)
        assert process.reason == "a + c was not lowered in the first run"


def at_the_candidate(monkeypatch: pytest.MonkeyPatch, act: object) -> list[str]:
    """Have `act(verification, process)` done each time when a candidate is about to be proven; the lines that pass."""
    said: list[str] = []
    run = Verification.run

    def watched(self: Verification) -> object:
        def progress(message: str) -> None:
            said.append(message)
            if message == "track: donation":
                (process,) = (one for one in psutil.Process().children() if boots(one))
                act(self, process)  # type: ignore[operator]

        self.listener = Listener(progress=progress)
        return run(self)

    monkeypatch.setattr(Verification, "run", watched)
    return said


def test_the_process_that_captured_has_ended_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(verification: Verification, process: psutil.Process) -> None:
        seen.append(
            (psutil.pid_exists(int(Path("pid").read_text())), process.cmdline()[2].endswith("boot.py"))
        )

    at_the_candidate(monkeypatch, look)
    verification = verify_source(tmp_path, PLAIN, transforms=("donation",))
    assert seen == [(False, True)]
    result = results_of(verification)["donation"]  # in 64 bits, with the program's own kind of random keys
    assert result["status"] in ("verified", "rejected"), result["reason"]
    saved = result["before"]["peak_bytes"] - result["after"]["peak_bytes"]
    assert saved == 256 * 256 * 8
    assert "the same bits" in result["evidence"]
    (inspected,) = {one["version"] for one in verification.document.inspections} - {"donation"}
    assert inspected == "original"
    assert verification.document.errors == []


def test_a_candidate_that_crashes_costs_its_own_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = at_the_candidate(monkeypatch, lambda verification, process: os.kill(process.pid, signal.SIGSEGV))
    verification = verify_source(tmp_path, PLAIN, transforms=("donation", "bf16"), costs=True)
    results = results_of(verification)
    assert results["donation"]["status"] == "failed"
    assert results["donation"]["reason"].startswith("the measuring process was killed by SIGSEGV")
    assert results["original"]["after"]["peak_bytes"]
    assert results["bf16"]["status"] == "not-applicable"
    assert "track: donation" in said


def test_a_candidate_that_hangs_costs_its_own_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(verification: Verification, process: psutil.Process) -> None:
        process.suspend()
        verification.request = dataclasses.replace(verification.request, timeout=1.0)

    at_the_candidate(monkeypatch, hang)
    result = results_of(verify_source(tmp_path, PLAIN, transforms=("donation",)))["donation"]
    assert result["status"] == "failed"
    assert "took longer than 1 s and was killed" in result["reason"]


def test_what_cannot_be_exported_is_measured_where_the_program_runs_again(tmp_path: Path) -> None:
    verification = verify_source(tmp_path, PRINTS, transforms=("donation",))
    result = results_of(verification)["donation"]
    assert result["status"] in ("verified", "rejected"), result["reason"]
    assert (
        "measured in a second run of the program: it cannot be exported (it calls back into Python)"
        in result["evidence"]
    )
    assert result["path"] == str(tmp_path / "program.py")
    assert any("running the program again for track" in note for note in verification.document.notes)


def test_a_program_that_ran_too_long_to_run_again_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring_client, "_AGAIN", 0.0)
    (result,) = results_of(verify_source(tmp_path, PRINTS, transforms=("donation",))).values()
    assert result["status"] == "not-applicable"
    assert result["reason"].startswith(
        "refused: it cannot be exported (it calls back into Python); the program ran"
    )


def test_an_interrupt_between_candidates_keeps_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Verification.run
    begun: list[str] = []

    def interrupted(self: Verification) -> object:
        # The function that takes most time comes first, and these two take the same.
        def progress(message: str) -> None:
            name, _, doing = message.partition(": ")
            if doing == "donation":
                begun.append(name)
                if len(set(begun)) == 2:
                    raise KeyboardInterrupt

        self.listener = Listener(progress=progress)
        return run(self)

    monkeypatch.setattr(Verification, "run", interrupted)
    before = running()
    verification = verify_source(tmp_path, TWO_FUNCTIONS, transforms=("donation",))
    assert verification.document.interrupted
    assert sorted(begun) == ["first", "second"]
    assert [result["function"] for _, result in verification.document.results] == begun[:1]
    assert not left_running(before)
