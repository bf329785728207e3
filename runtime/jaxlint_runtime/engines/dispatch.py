"""Sends the functions of a program to an engine, one errand each, and reports the results.

Results are reported in the order of the functions, each as soon as those before it are. A job that is lost,
never starts or stays silent costs only its own function. Work that needs another run of the program is done
here, once no job runs.
"""

from __future__ import annotations

import json
import math
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import jaxlint
from jaxlint_runtime.engines.engine import Engine, Job, LostEngine
from jaxlint_runtime.model import Result, Status
from jaxlint_runtime.protocol.errands import Alive, Begun, Deferred, Errand, ErrandEvent, read_line
from jaxlint_runtime.protocol.jobs import Capture
from jaxlint_runtime.protocol.worker_events import (
    Decided,
    Device,
    Done,
    Error,
    Left,
    Note,
    Progress,
)
from jaxlint_runtime.run import Run
from jaxlint_runtime.targets import parse
from jaxlint_runtime.workers.measuring_client import USED_UP, lost, measure, measure_deferred, needs_program
from jaxlint_runtime.workers.scratch_copy import Scratch
from jaxlint_runtime.workers.starting import to_originals
from jaxlint_runtime.workers.stored_proofs import StoredProofs, peaks_of_target, stored_errand

_SILENT = 120.0  # seconds without a sign of life after which a job counts as lost
_GRACE = 30.0  # seconds for a job to end by itself once the --budget is spent


@dataclass(slots=True)
class _Sent:
    """One function, and the messages of its job that are not reported yet. `over`: no more messages will come."""

    left: Left
    peaks: bool
    at_home: bool
    job: Job | None = None
    submitted: float = 0.0
    heard: float | None = None  # when its job gave the last sign of life
    host: str = ""
    device: str = ""
    doing: str = ""
    kept: list[ErrandEvent] = field(default_factory=list)
    told: list[ErrandEvent] = field(default_factory=list)  # all of them, for later runs
    proofs: StoredProofs | None = None
    over: bool = False

    @property
    def measures(self) -> bool:
        """Whether it measures times, which other work on the same machine would disturb."""
        return not parse(self.left.target).compile_only

    @property
    def is_running(self) -> bool:
        """Whether its job waits for a machine or runs."""
        return self.job is not None and not self.over


class Dispatch:
    """The functions of one run of the program, on their way."""

    def __init__(
        self, run: Run, capture: Capture, scratch: Scratch | None, left: Sequence[Left], engine: Engine
    ) -> None:
        self._run = run
        self._capture = capture
        self._scratch = scratch
        self._engine = engine
        self._wait = run.request.workers.wait if run.request.workers is not None else 0.0
        self._sent: list[_Sent] = []
        self._next = 0  # the first whose results are not all reported
        self._unlike: set[str] = set()
        told: set[str] = set()  # the targets whose peak figures some job reports
        for one in reversed(left):
            at_home = needs_program(run, one)
            peaks = not (at_home or ":" in one.target or one.target in told)
            told |= {one.target} if peaks else set()
            self._sent.insert(0, _Sent(one, peaks, at_home))
        for sent in self._sent:
            self._recall(sent)

    def run(self) -> None:
        """Reports every result; after an interrupt, those that are known."""
        away = [one for one in self._sent if not one.at_home]
        try:
            while not all(one.over for one in away):
                self._submit([one for one in away if one.job is None and not one.over])
                self._follow([one for one in away if one.is_running])
                self._report()
                self._progress(away)
                time.sleep(self._engine.pause)
            self._report(finish=True)
        except BaseException:
            self._report_known()
            raise

    # ---- proofs of earlier runs ----

    def _recall(self, one: _Sent) -> None:
        """Uses the messages of an earlier job, so that no new job is needed."""
        if one.at_home:
            return
        one.proofs = stored_errand(self._run, self._capture.trying, one.left)
        told = one.proofs.errand() if one.proofs is not None else None
        if told is not None:
            one.kept, one.over = list(told), True
            peaks_of_target(self._run, one.left.target)

    # ---- jobs ----

    def _submit(self, waiting: Sequence[_Sent]) -> None:
        """Starts all jobs that may start. On this machine, a job that measures times runs alone."""
        chosen = waiting
        if self._engine.side_by_side is not None:
            running = [one for one in self._sent if one.is_running]
            free = self._engine.side_by_side - len(running)
            chosen = [one for one in waiting if not one.measures][: max(0, free)]
            if any(one.measures for one in running):
                chosen = []
            elif not chosen and not running:
                chosen = waiting[:1]
        if not chosen:
            return
        if self._run.request.is_over:
            for one in chosen:
                self._lose(one, Status.NOT_APPLICABLE, USED_UP)
            return
        try:
            jobs = self._engine.submit([self._errand(one) for one in chosen])
        except LostEngine as error:
            for one in chosen:
                self._lose(one, Status.FAILED, f"{self._engine.name} takes no jobs: {error}")
            return
        for one, job in zip(chosen, jobs, strict=True):
            one.job, one.submitted = job, time.monotonic()

    def _errand(self, one: _Sent) -> Errand:
        request = self._run.request
        return Errand(
            left=one.left,
            trying=self._capture.trying,
            timeout=request.timeout,
            run_seconds=self._run.run_seconds,
            memory_limit=request.memory_limit,
            seconds_left=None if request.ends is None else request.within(math.inf),
            python=request.own_python,
            peaks=one.peaks,
            versions={**self._run.document.versions, "jaxlint": jaxlint.__version__},
        )

    def _follow(self, running: Sequence[_Sent]) -> None:
        """Reads the messages of jobs, and records their ends."""
        try:
            self._engine.look()
        except LostEngine as error:
            for one in running:
                self._cancel(one, Status.FAILED, f"{self._engine.name} {error}")
            return
        for one in running:
            self._follow_one(one)

    def _follow_one(self, one: _Sent) -> None:
        assert one.job is not None
        end = one.job.ended()
        for line in one.job.lines():
            self._hear(one, line)
        if one.over:
            return
        if end is not None:
            if end:
                self._lose(one, Status.FAILED, f"its job {end}")
            else:
                self._finish(one)
        elif one.heard is None:
            self._expire(one, one.submitted, self._wait, Status.NOT_APPLICABLE, self._not_started())
        else:
            self._expire(
                one, one.heard, _SILENT, Status.FAILED, f"its job did not answer for {_SILENT:.0f} s"
            )

    def _not_started(self) -> str:
        return f"not tried: {self._engine.name} started no job for it in {self._wait:g} s (--workers-wait)"

    def _expire(self, one: _Sent, since: float, limit: float, status: Status, reason: str) -> None:
        """Cancels a job that has been silent too long, or that exceeds the time of the whole run."""
        ends, now = self._run.request.ends, time.monotonic()
        if ends is not None and now > ends + (0.0 if one.heard is None else _GRACE):
            status, reason = Status.NOT_APPLICABLE, USED_UP
        elif now - since <= limit:
            return
        self._cancel(one, status, reason)

    def _finish(self, one: _Sent) -> None:
        one.over = True
        if one.proofs is not None:
            one.proofs.keep_errand(one.told)

    def _cancel(self, one: _Sent, status: Status, reason: str) -> None:
        assert one.job is not None
        one.job.cancel()
        self._lose(one, status, reason)

    def _lose(self, one: _Sent, status: Status, reason: str) -> None:
        if status is Status.FAILED:
            where = f" on {one.host}" if one.host else ""
            during = f" during {one.doing}" if one.doing else ""
            reason = f"{reason}{where}{during}"
            one.kept.append(Note(f"{one.left.function}: {reason}"))
        one.kept.append(Decided(one.left.target, lost(one.left, status, reason, "all")))
        one.over = True

    def _hear(self, one: _Sent, line: bytes) -> None:
        if one.over:
            return
        one.heard = time.monotonic()
        try:
            plain = json.loads(line)
            event = read_line(plain if self._scratch is None else to_originals(plain, self._scratch))
        except ValueError:  # truncated by the end of the job
            return
        match event:
            case Alive():
                pass
            case Begun() if one.host:
                # a cluster that restarts lost jobs: some of its results may be reported already
                self._cancel(one, Status.FAILED, "its job was lost and started again")
            case Begun(host):
                one.host = host
            case Device(kind):
                one.device = kind
            case Progress(message):
                one.doing = message.partition(": ")[2] or message
            case Done():
                self._finish(one)
            case Error(message, refused):
                if refused:
                    self._lose(one, Status.NOT_APPLICABLE, f"refused: {message}")
                else:
                    self._lose(one, Status.FAILED, message)
            case Decided(_, result):
                self._place(one, result)
                one.kept.append(event)
                one.told.append(event)
            case _:
                one.kept.append(event)
                one.told.append(event)

    def _place(self, one: _Sent, result: Result) -> None:
        """Adds the machine on which a result was found, unless it is this one."""
        if one.host != socket.gethostname() and one.device:
            result.evidence += f"; on {one.host} ({one.device})"
            here = self._run.document.device
            if one.measures and here is not None and one.device != here and one.device not in self._unlike:
                self._unlike.add(one.device)
                one.kept.append(Note(f"the program ran on {here}, and {one.host} measures on {one.device}"))

    # ---- reports ----

    def _report(self, finish: bool = False) -> None:
        """Reports the known results of the functions in order. `finish`: also does the work that is left for this machine."""
        while self._next < len(self._sent):
            one = self._sent[self._next]
            if one.at_home:
                if not finish:
                    return
                for target, result in measure(self._run, self._capture, self._scratch, [one.left]):
                    self._run.report(result, target)
            while one.kept:
                if isinstance(one.kept[0], Deferred) and not finish:
                    return
                self._tell(one, one.kept.pop(0))
            if not one.over and not one.at_home:
                return
            self._next += 1

    def _tell(self, one: _Sent, event: ErrandEvent) -> None:
        match event:
            case Deferred():
                result = measure_deferred(self._run, self._capture, self._scratch, one.left, event)
                self._run.report(result, one.left.target)
            case Begun() | Alive():
                pass
            case _:
                self._run.hear(event)

    def _report_known(self) -> None:
        """Reports messages of jobs that had to wait for earlier functions."""
        for one in self._sent[self._next :]:
            for event in one.kept:
                if not isinstance(event, Deferred):
                    self._tell(one, event)
            one.kept = []

    def _progress(self, away: Sequence[_Sent]) -> None:
        busy = [one for one in away if one.is_running and one.heard is not None]
        over = sum(one.over for one in away)
        text = f"{self._engine.name}: {over} of {len(away)} functions are done"
        if busy:
            text += f", {busy[0].left.function} for {busy[0].left.target}: {busy[0].doing or 'begins'}"
        self._run.listener.progress(text)
