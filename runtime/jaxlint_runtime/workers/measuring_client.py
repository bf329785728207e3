"""Measures the candidates of captured functions, each in a process that did not capture.

The process that ran the program is gone by then, so that it holds no accelerator. Its exports are measured in a fresh
process. For a function or candidate that could not be exported, the program runs again; if both fail, it is refused.
A candidate that crashes or hangs only loses its own result: the next one gets a new process.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from jaxlint_runtime.model import Cost, Proposed, Result, Status
from jaxlint_runtime.optimiser_settings import LEAST_SAVED, TRANSFORMS
from jaxlint_runtime.proof.candidate_search import search, told
from jaxlint_runtime.protocol.errands import Deferred
from jaxlint_runtime.protocol.jobs import Capture, Job, Measure, Open, Prove, Question, Serve, TellPeaks
from jaxlint_runtime.protocol.worker_events import (
    Captured,
    Constants,
    Error,
    Event,
    Hello,
    Inspected,
    Left,
    Note,
    OfFunction,
    Peaks,
    Proven,
    Ready,
    Watch,
)
from jaxlint_runtime.run import Run
from jaxlint_runtime.wording.units import size
from jaxlint_runtime.workers.following import Deadline, follow
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.scratch_copy import Scratch, TooLarge, scratch_copy
from jaxlint_runtime.workers.starting import start_worker
from jaxlint_runtime.workers.stored_proofs import StoredProofs, peaks_of_target, stored_proofs

_AGAIN = 120.0  # seconds that a program may run, to be run again for a function that cannot be exported
_ESTIMATED = 1 / 4  # of the saved bytes: estimates may be too small
_STARTS = 3  # times that it is run again for one function
# A candidate's time limit in seconds, and in multiples of the original's start-up time.
_LEAST, _TIMES = 60.0, 10.0
USED_UP = "not tried: the --budget is spent"
RAN_OUT = "not decided: the --budget was spent while it was measured"
_TIMING = 6.0  # seconds of timing where none are given

Answer = TypeVar("Answer", Ready, Proven)


class _Gone(Exception):
    """No process could answer; the message says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Task:
    """The exports of one run of the program, and their places."""

    run: Run
    capture: Capture
    scratch: Scratch | None
    away: bool = False  # from the program: work that needs another run of it is deferred


class _Process:
    """A measuring process, started at its first question and again after it died."""

    def __init__(self, task: _Task) -> None:
        self._task = task
        self._run = task.run
        self._stack = contextlib.ExitStack()
        self._worker: WorkerProcess | None = None
        self._scratch = task.scratch
        self._opened: tuple[str, Ready] | None = None  # the folder of the function that it is ready for
        self.told: list[Event] = []  # its events about versions of functions, beside its answers

    def close(self) -> None:
        """Ends it, if it runs."""
        self._worker, self._opened = None, None
        self._stack.close()

    def begin(self, left: Left) -> Ready:
        """Prepares it for a function. Raises Death and _Gone."""
        if self._opened is None or self._opened[0] != left.folder:
            question = Open(left.folder, left.target, left.digest)
            ready = self._ask(question, Ready, self._run.request.timeout, left)
            self._opened = (left.folder, ready)
        return self._opened[1]

    @property
    def repeatable(self) -> bool:
        """Whether the program is short enough to run again."""
        return self._run.run_seconds <= _AGAIN

    def prove(self, left: Left, parts: Sequence[str], base: Sequence[str]) -> Result:
        """Proves one version of a function. Raises Death and _Gone."""
        request = self._run.request
        limit = _LEAST + _TIMES * self.begin(left).seconds + 4 * (request.seconds or _TIMING)
        question = Prove(tuple(parts), tuple(base))
        return self._ask(question, Proven, min(limit, request.timeout), left).result

    def tell_peaks(self, target: str) -> None:
        """Requests the target's peak figures, if it runs."""
        if self._worker is not None:
            with contextlib.suppress(Death):
                self._answer(self._worker, TellPeaks(target), Ready, self._run.request.timeout)

    def _ask(self, question: Question, kind: type[Answer], limit: float, left: Left) -> Answer:
        try:
            if self._worker is None:
                self._worker = self._start(left)
                return self._answer(self._worker, self._first(question), kind, limit)
            return self._answer(self._worker, question, kind, limit)
        except Death:
            self.close()
            raise

    def _answer(
        self, worker: WorkerProcess, question: Question | None, kind: type[Answer], limit: float
    ) -> Answer:
        if question is not None:
            worker.send(question)
        cause = f"took longer than {limit:.0f} s and was killed"
        deadline = Deadline.within(self._run.request, limit, cause)
        answers: list[Answer] = []

        def hear(event: Event) -> bool:
            if isinstance(event, kind):
                answers.append(event)
            else:
                self._hear(worker, event)
            return bool(answers)

        last = follow(worker, hear, lambda: [deadline], self._scratch)
        if not answers:
            raise _Gone(last.message if isinstance(last, Error) else "it exited before it answered")
        return answers[0]

    def _hear(self, worker: WorkerProcess, event: Event) -> None:
        if isinstance(event, Inspected | Constants | Peaks):
            self.told.append(event)
        self._run.hear(event)

    def _start(self, left: Left) -> WorkerProcess:
        """A fresh process with the program's JAX settings."""
        return self._enter(Measure(self._task.capture.trying), left.environment)

    def _enter(self, job: Job, environment: Mapping[str, str]) -> WorkerProcess:
        run = self._run
        worker = start_worker(run.request, job, self._scratch, run.listener.output, environment)
        return self._stack.enter_context(worker)

    def _first(self, question: Question) -> Question | None:
        return question


class _Again(_Process):
    """Another run of the program, in a scratch copy, for the candidates of one function."""

    def __init__(self, task: _Task, reason: str) -> None:
        super().__init__(task)
        self.reason = reason
        self._starts = 0

    def _start(self, left: Left) -> WorkerProcess:
        self._starts += 1
        run = self._run
        if not self.repeatable:
            raise _Gone(
                f"the program ran {run.run_seconds:.0f} s, and only programs of up to {_AGAIN:.0f} s are run again"
            )
        if self._starts > _STARTS:
            raise _Gone(f"the program was already run again {_STARTS} times")
        run.say(f"running the program again for {left.function}: {self.reason}")
        scratch = self._task.scratch
        if scratch is None:
            try:
                scratch = self._stack.enter_context(scratch_copy(run.request.project()))
            except TooLarge as error:
                raise _Gone(f"the program was not run again: {error}") from None
        self._scratch = scratch
        only = ((left.path, left.function),)
        job = dataclasses.replace(self._task.capture, only=only, then=Serve(left.target), flagged=())
        return self._enter(job, {})

    def _first(self, question: Question) -> Question | None:
        return None if isinstance(question, Open) else question  # it is ready once the program has ended

    def _hear(self, worker: WorkerProcess, event: Event) -> None:
        if isinstance(event, Captured):
            known = self._run.known()
            worker.send(known if self._scratch is None else known.moved(self._scratch.to_copy))
        elif not isinstance(event, Watch | Hello | Note):
            super()._hear(worker, event)


class _Function:
    """The candidates of one function, wherever they are proven: `candidate_search.Prover`."""

    def __init__(self, left: Left, fresh: _Process, again: _Again | None, task: _Task) -> None:
        self._left = left
        self._task = task
        self._fresh = fresh
        self._again = again  # the process that proves all of it; None if it could be exported
        self._refused: dict[str, _Again] = {}
        self._deferred: dict[str, Deferred] = {}
        self._proofs = None if again else stored_proofs(task.run, task.capture.trying, left)
        self.ready = self._begin(again or fresh)
        self._proposed = self.ready.proposed if again else left.proposed

    def _begin(self, process: _Process) -> Ready:
        """The facts about the original, from an earlier run if it has not changed."""
        if self._proofs is None:
            return process.begin(self._left)
        found = self._proofs.ready()
        if found is None:
            process.told.clear()
            found = process.begin(self._left)
            self._proofs.keep_ready(found, process.told)
        return found

    @property
    def cost(self) -> Cost:
        """The cost of the original."""
        assert self.ready.cost is not None
        return self.ready.cost

    def propose(self, transform: str) -> list[Proposed] | Result:
        """The candidates of a transformation, or why there are none."""
        return self._proposed[transform]

    def staged(self, parts: Sequence[str]) -> bool:
        """Whether these can be tried together: they were exported together, or the program can run again for them."""
        return self._again is not None or self._is_left(parts) or self._fresh.repeatable

    def _is_left(self, parts: Sequence[str]) -> bool:
        lists = [found for found in self._proposed.values() if isinstance(found, list)]
        bits = {one.name for found in lists for one in found if one.bits}
        others = sorted(set(parts) - bits)
        return len(others) < 2 or others in self._left.together

    def prove(self, parts: Sequence[str], base: Sequence[str]) -> Result:
        """Proves a version of the function in a separate process."""
        process = self._again or self._process(parts)
        if self._task.away and isinstance(process, _Again):
            name = " + ".join(parts)
            self._deferred[name] = Deferred(tuple(parts), tuple(base), process.reason)
            return lost(self._left, Status.NOT_APPLICABLE, f"deferred: {process.reason}", name)
        proofs = self._proofs if process is self._fresh else None
        return _proven(self._task, process, self._left, parts, base, proofs)

    def final(self, result: Result) -> Result | Deferred:
        """A result of `prove`, or the deferred work that it stands for."""
        return self._deferred.get(result.candidate, result)

    def _process(self, parts: Sequence[str]) -> _Process:
        """The process for these candidates: with their artefacts, or with another run of the program."""
        refused = self._left.unexported
        name = next((part for part in parts if part in refused), None)
        if name is not None:
            reason = f"{name} cannot be exported ({refused[name]})"
        elif not self._is_left(parts):
            name, reason = " + ".join(parts), f"{' + '.join(parts)} was not lowered in the first run"
        else:
            return self._fresh
        return self._refused.setdefault(name, _Again(self._task, reason))

    def close(self) -> None:
        """Ends the processes that were started for this function only."""
        for process in (self._again, *self._refused.values()):
            if process is not None:
                process.close()


def _proven(
    task: _Task,
    process: _Process,
    left: Left,
    parts: Sequence[str],
    base: Sequence[str],
    proofs: StoredProofs | None = None,
) -> Result:
    """The result of these candidates in a process, or why there is none."""
    name = " + ".join(parts)
    if proofs is not None and (known := proofs.proven(parts, base)) is not None:
        return known
    if task.run.request.is_over:
        return lost(left, Status.NOT_APPLICABLE, USED_UP, name)
    if task.run.allowance <= 0:
        return lost(left, Status.NOT_APPLICABLE, f"not tried: {task.run.too_dear()}", name)
    process.told.clear()
    try:
        found = process.prove(left, parts, base)
    except Death as death:
        if task.run.request.is_over:
            return lost(left, Status.NOT_APPLICABLE, RAN_OUT, name)
        return lost(left, Status.FAILED, f"the measuring process {death}", name)
    except _Gone as reason:
        why = f"{process.reason}; " if isinstance(process, _Again) else ""
        return lost(left, Status.NOT_APPLICABLE, f"refused: {why}{reason}", name)
    if isinstance(process, _Again):
        found.evidence += f"; measured in a second run of the program: {process.reason}"
    elif proofs is not None:
        proofs.keep_proven(parts, base, found, process.told)
    return found


def measure(
    run: Run, capture: Capture, scratch: Scratch | None, left: Sequence[Left]
) -> Iterator[tuple[str, Result]]:
    """Proves the candidates of every function that one run of the program exported: targets and results, as they are
    decided."""
    task = _Task(run, capture, scratch)
    fresh = _Process(task)
    try:
        for number, one in enumerate(left):
            for result in _measured(task, one, fresh):
                assert isinstance(result, Result)
                yield one.target, result
            last = number + 1 == len(left) or left[number + 1].target != one.target
            if last and ":" not in one.target:
                if any(inspected["target"] == one.target for inspected in run.document.inspections):
                    fresh.tell_peaks(one.target)
                    peaks_of_target(run, one.target)
    finally:
        fresh.close()


def measure_away(run: Run, capture: Capture, left: Left, peaks: bool) -> Iterator[Result | Deferred]:
    """Proves the candidates of one function on a machine without the program; `peaks`: also reports the target's peak figures."""
    task = _Task(run, capture, None, away=True)
    fresh = _Process(task)
    try:
        yield from _measured(task, left, fresh)
        if peaks:
            fresh.tell_peaks(left.target)
    finally:
        fresh.close()


def measure_deferred(
    run: Run, capture: Capture, scratch: Scratch | None, left: Left, deferred: Deferred
) -> Result:
    """Proves in another run of the program the candidates that `measure_away` could not."""
    task = _Task(run, capture, scratch)
    again = _Again(task, deferred.reason)
    try:
        result = _proven(task, again, left, deferred.parts, deferred.base)
        return told(result, capture.trying.device_memory)
    finally:
        again.close()


def needs_program(run: Run, left: Left) -> bool:
    """Whether candidates of a function are only proven where the program can run again."""
    return left.refused is not None or (bool(left.unexported) and run.run_seconds <= _AGAIN)


def _measured(task: _Task, left: Left, fresh: _Process) -> Iterator[Result | Deferred]:
    """The results of one function."""
    run, trying = task.run, task.capture.trying
    if run.request.is_over:
        yield lost(left, Status.NOT_APPLICABLE, USED_UP, "all")
        return
    again = None if left.refused is None else _Again(task, f"it cannot be exported ({left.refused})")
    run.listener.progress(f"{left.function}: measuring candidates on {left.target}")
    prover: _Function | None = None
    try:
        prover = _Function(left, fresh, again, task)
        yield from prover.ready.results
        if prover.ready.cost is None:
            return
        names = TRANSFORMS if trying.transforms is None else trying.transforms
        limited = trying.device_memory is not None  # then time may be traded for any memory
        written = run.request.only_written and not limited
        found = search(
            prover,
            names,
            trying.device_memory,
            lambda what: run.listener.progress(f"{left.function}: {what}"),
            lambda one: _too_small(left, one, run.request.least_saved) if written else None,
        )
        yield from map(prover.final, found)
    except Death as death:
        if run.request.is_over:
            run.say(f"{left.function}: {RAN_OUT}")
            yield lost(left, Status.NOT_APPLICABLE, RAN_OUT, "all")
            return
        reason = f"the process measuring {left.function} {death}"
        run.say(reason)
        yield lost(left, Status.FAILED, reason, "all")
    except _Gone as reason:
        why = f"{again.reason}; " if again is not None else ""
        yield lost(left, Status.NOT_APPLICABLE, f"refused: {why}{reason}", "all")
    finally:
        if prover is not None:
            prover.close()
        elif again is not None:
            again.close()


def _too_small(left: Left, candidate: Proposed, least: int = 0) -> Result | None:
    """The result of a candidate that `--apply` would not write, whatever a proof shows, or that saves less than `least` bytes."""
    if candidate.bits and candidate.estimate < least:
        reason = f"not tried: it saves at most {size(candidate.estimate)}, which is not worth more runs of the program"
        return lost(left, Status.NOT_APPLICABLE, reason, candidate.name)
    if candidate.transform != "remat" or candidate.estimate >= _ESTIMATED * LEAST_SAVED:
        return None
    reason = (
        f"not tried: it saves about {size(candidate.estimate)}, and --apply writes what saves 1 MiB or more"
    )
    return lost(left, Status.NOT_APPLICABLE, reason, candidate.name)


def lost(one: OfFunction, status: Status, reason: str, candidate: str) -> Result:
    """The result for a candidate that no process could decide."""
    evidence = "none: the process has exited" if status is Status.FAILED else "nothing was run"
    return Result(one.function, one.path, one.line, None, candidate, status, evidence, reason)
