"""The candidates of captured functions, each measured in a process that did not capture.

The process that ran the program is gone by then, so that it holds no accelerator. What it left is measured in a fresh process; a function, or a
candidate, that could not be exported where the program runs again with it; and what neither can do is refused. A candidate that crashes or
hangs costs its own result: the next one gets a new process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jaxlint_runtime.model import Cost, Proposed, Result, Status, cost_from_plain
from jaxlint_runtime.proof.candidate_search import search
from jaxlint_runtime.protocol.messages import Job, to_plain
from jaxlint_runtime.settings import TRANSFORMS
from jaxlint_runtime.workers.process import Death, WorkerProcess
from jaxlint_runtime.workers.scratch_copy import Scratch, TooLarge, scratch_copy

if TYPE_CHECKING:
    from jaxlint_runtime.verify import Verification

_AGAIN = 120.0  # seconds that a program may have run to be run again for a function that cannot be exported
_STARTS = 3  # times that it is run again for one function
_LEAST, _TIMES = (
    60.0,
    10.0,
)  # a candidate may take so many seconds, and so many times what the original took to begin
_TIMING = 6.0  # seconds of timing where none are given


class _Gone(Exception):
    """There is no process that could answer; the message says why."""


class _Process:
    """A process that measures, started when it is first asked and again after it died."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._verification = candidates.verification
        self._stack = contextlib.ExitStack()
        self._worker: WorkerProcess | None = None
        self._scratch: Scratch | None = candidates.scratch
        self.opened: dict[str, Any] | None = None

    def close(self) -> None:
        """End it, if it runs."""
        self._worker, self.opened = None, None
        self._stack.close()

    def begin(self, place: Mapping[str, Any]) -> dict[str, Any]:
        """Make it ready for a function; the `ready` event. Raises Death and _Gone."""
        folder = place["folder"]
        if self.opened is None or self.opened["folder"] != folder:
            message = {"open": {"folder": folder, "target": place["target"]}}
            ready = self._ask(message, "ready", self._verification.request.timeout, place)
            self.opened = {**ready, "folder": folder}
        return self.opened

    @property
    def repeatable(self) -> bool:
        """Whether the program is short enough to be run again."""
        return self._verification.run_seconds <= _AGAIN

    def prove(self, place: Mapping[str, Any], parts: Sequence[str], base: Sequence[str]) -> Result:
        """Prove one version of a function. Raises Death and _Gone."""
        request = self._verification.request
        limit = _LEAST + _TIMES * self.begin(place)["seconds"] + 4 * (request.seconds or _TIMING)
        message = {"prove": {"parts": parts, "base": base}}
        return Result.from_plain(self._ask(message, "proven", min(limit, request.timeout), place)["result"])

    def peaks(self, target: str) -> None:
        """Have it tell what a target can do."""
        if self._worker is not None:
            with contextlib.suppress(Death):
                self._ask({"peaks": target}, "ready", self._verification.request.timeout, {})

    def _ask(
        self, message: dict[str, Any], answer: str, limit: float, place: Mapping[str, Any]
    ) -> dict[str, Any]:
        try:
            if self._worker is None:
                self._worker = self._start(place)
                message = self._first(message)
            if message:
                self._worker.send(message)
            return self._wait(self._worker, answer, limit)
        except Death:
            self.close()
            raise

    def _wait(self, worker: WorkerProcess, answer: str, limit: float) -> dict[str, Any]:
        deadline = time.monotonic() + limit
        while True:
            event = worker.next_event(0.2)
            if event is None:
                if time.monotonic() > deadline:
                    worker.kill(f"took longer than {limit:.0f} s and was ended")
                continue
            if self._scratch is not None:
                event = to_originals(event, self._scratch)
            kind = event["event"]
            if kind == answer:
                return event
            if kind == "error":
                raise _Gone(event["message"])
            if kind == "done":
                raise _Gone("it ended before it had answered")
            self._hear(worker, kind, event)

    def _hear(self, worker: WorkerProcess, kind: str, event: Mapping[str, Any]) -> None:
        self._verification.heard(kind, event)

    def _start(self, place: Mapping[str, Any]) -> WorkerProcess:
        """A fresh process with what the program had set for JAX."""
        job = dataclasses.replace(self._candidates.job, measure=True, artefacts=None)
        return self._enter(job, self._scratch, place["environment"])

    def _enter(self, job: Job, scratch: Scratch | None, environment: Mapping[str, str]) -> WorkerProcess:
        from jaxlint_runtime.verify import relocate, start_worker

        verification = self._verification
        moved, folder = relocate(job, scratch)
        worker = start_worker(
            verification.request, moved, folder, scratch, verification.listener.output, environment
        )
        return self._stack.enter_context(worker)

    def _first(self, message: dict[str, Any]) -> dict[str, Any]:
        return message


class _Again(_Process):
    """The program run once more, in a scratch copy, for the candidates of one function."""

    def __init__(self, candidates: Candidates, reason: str) -> None:
        super().__init__(candidates)
        self.reason = reason
        self._starts = 0

    def _start(self, place: Mapping[str, Any]) -> WorkerProcess:
        self._starts += 1
        if not self.repeatable:
            raise _Gone(
                f"the program ran {self._verification.run_seconds:.0f} s, and is run again where it took {_AGAIN:.0f} s at most"
            )
        if self._starts > _STARTS:
            raise _Gone(f"the program was run again {_STARTS} times")
        self._verification.say(f"running the program again for {place['function']}: {self.reason}")
        scratch = self._candidates.scratch
        if scratch is None:
            try:
                project = self._verification.request.project()
                scratch = self._stack.enter_context(scratch_copy(project))
            except TooLarge as error:
                raise _Gone(f"the program was not run again: {error}") from None
        self._scratch = scratch
        job = dataclasses.replace(
            self._candidates.job,
            only=[[place["path"], place["function"]]],
            serve=place["target"],
            artefacts=None,
            flagged=[],
        )
        return self._enter(job, scratch, {})

    def _first(self, message: dict[str, Any]) -> dict[str, Any]:
        return {} if "open" in message else message  # it is ready once the program is over

    def _hear(self, worker: WorkerProcess, kind: str, event: Mapping[str, Any]) -> None:
        if kind == "captured":
            worker.send(self._verification.known(self._scratch))
        elif kind not in ("watch", "hello", "note"):
            super()._hear(worker, kind, event)


class _Function:
    """The candidates of one function, wherever they are proven: `candidate_search.Prover`."""

    def __init__(self, place: Mapping[str, Any], fresh: _Process, again: _Again | None) -> None:
        self._place = place
        self._fresh = fresh
        self._again = again  # where all of it is proven, None where it could be exported
        self._refused: dict[str, _Again] = {}
        self.ready = (again or fresh).begin(place)
        self._proposed = self.ready["proposed"] if again else place["proposed"]

    @property
    def cost(self) -> Cost:
        """What the original costs."""
        return cost_from_plain(self.ready["cost"])

    def propose(self, transform: str) -> list[Proposed] | Result:
        """The candidates of a transformation, or why there are none."""
        found = self._proposed[transform]
        return [Proposed(**one) for one in found] if isinstance(found, list) else Result.from_plain(found)

    def staged(self, parts: Sequence[str]) -> bool:
        """Whether these can be tried together: they were left so, or the program can run again for them."""
        return self._again is not None or self._left(parts) or self._fresh.repeatable

    def _left(self, parts: Sequence[str]) -> bool:
        bits = {
            one["name"]
            for found in self._proposed.values()
            if isinstance(found, list)
            for one in found
            if one["bits"]
        }
        others = sorted(set(parts) - bits)
        return len(others) < 2 or others in self._place["together"]

    def prove(self, parts: Sequence[str], base: Sequence[str]) -> Result:
        """Prove a version of the function in a process of its own."""
        process = self._again or self._process(parts)
        try:
            found = process.prove(self._place, parts, base)
        except Death as death:
            return self._lost(parts, Status.FAILED, f"the process that tried it {death}")
        except _Gone as reason:
            why = f"{process.reason}; " if isinstance(process, _Again) else ""
            return self._lost(parts, Status.NOT_APPLICABLE, f"refused: {why}{reason}")
        if isinstance(process, _Again):
            found.evidence += f"; measured where the program ran again: {process.reason}"
        return found

    def _process(self, parts: Sequence[str]) -> _Process:
        """Where these candidates are: in their artefacts, or where the program runs again."""
        refused = self._place["refused"]
        name = next((part for part in parts if part in refused), None)
        if name is not None:
            reason = f"{name} cannot be exported ({refused[name]})"
        elif not self._left(parts):
            name, reason = " + ".join(parts), f"{' + '.join(parts)} was not staged the first time"
        else:
            return self._fresh
        return self._refused.setdefault(name, _Again(self._fresh._candidates, reason))

    def close(self) -> None:
        """End the processes that were started for this function alone."""
        for process in (self._again, *self._refused.values()):
            if process is not None:
                process.close()

    def _lost(self, parts: Sequence[str], status: Status, reason: str) -> Result:
        return lost(self._place, status, reason, " + ".join(parts))


class Candidates:
    """What one capture left, measured function by function."""

    def __init__(self, verification: Verification, job: Job, scratch: Scratch | None) -> None:
        self.verification = verification
        self.job = job
        self.scratch = scratch

    def measure(self, left: Sequence[Mapping[str, Any]]) -> None:
        """Prove the candidates of every function; the results go to the document."""
        document = self.verification.document
        fresh = _Process(self)
        try:
            for place in left:
                self._function(place, fresh)
                last = place is left[-1] or left[left.index(place) + 1]["target"] != place["target"]
                if last and ":" not in place["target"]:
                    inspected = any(one["target"] == place["target"] for one in document.inspections)
                    if inspected:
                        fresh.peaks(place["target"])
        finally:
            fresh.close()

    def _function(self, place: Mapping[str, Any], fresh: _Process) -> None:
        verification = self.verification
        refused = place["refused"] if isinstance(place["refused"], str) else None
        again = None if refused is None else _Again(self, f"it cannot be exported ({refused})")
        verification.listener.progress(f"measuring candidates for {place['function']} on {place['target']}")
        names = TRANSFORMS if self.job.transforms is None else tuple(self.job.transforms)
        prover: _Function | None = None
        try:
            prover = _Function(place, fresh, again)
            results = [Result.from_plain(one) for one in prover.ready["results"]]
            for result in results:
                self._tell(place, result)
            if prover.ready["over"]:
                return
            progress = verification.listener.progress
            for result in search(
                prover, names, self.job.device_memory, lambda what: progress(f"{place['function']}: {what}")
            ):
                self._tell(place, result)
        except Death as death:
            reason = f"the process that measured {place['function']} {death}"
            verification.say(reason)
            self._tell(place, lost(place, Status.FAILED, reason, "all"))
        except _Gone as reason:
            why = f"{again.reason}; " if again is not None else ""
            self._tell(place, lost(place, Status.NOT_APPLICABLE, f"refused: {why}{reason}", "all"))
        finally:
            if prover is not None:
                prover.close()
            elif again is not None:
                again.close()

    def _tell(self, place: Mapping[str, Any], result: Result) -> None:
        self.verification.document.results.append((place["target"], to_plain(result)))


def lost(place: Mapping[str, Any], status: Status, reason: str, candidate: str) -> Result:
    """The result of what no process could decide."""
    evidence = "none: the process is gone" if status is Status.FAILED else "nothing was run"
    return Result(place["function"], place["path"], place["line"], None, candidate, status, evidence, reason)


def to_originals(value: Any, scratch: Scratch) -> Any:
    """An event from a scratch copy, with its paths turned back."""
    prefix = str(scratch.folder)
    if isinstance(value, str):
        return value.replace(prefix, str(scratch.root))
    if isinstance(value, dict):
        return {key: to_originals(item, scratch) for key, item in value.items()}
    if isinstance(value, list):
        return [to_originals(item, scratch) for item in value]
    return value
