"""The function behind `jaxlint verify`: runs the program in workers until every candidate is decided.

A worker that dies loses its current task, never the run: the loss is a result or a line of the report, and a second
run of the program, in a scratch copy, does the rest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.config import ConfigError
from jaxlint.engine import CheckResult
from jaxlint.source.file import SourceFile
from jaxlint.source.write import Change
from jaxlint_runtime.engines.choosing import open_engine
from jaxlint_runtime.engines.dispatch import Dispatch
from jaxlint_runtime.engines.placement_jobs import PlacementJobs
from jaxlint_runtime.model import Status
from jaxlint_runtime.optimiser_settings import EAGER, ENVIRONMENT, SOURCE
from jaxlint_runtime.protocol.jobs import Capture, Leave, Shard
from jaxlint_runtime.protocol.placements import PlacementQuestion
from jaxlint_runtime.protocol.worker_events import (
    Captured,
    Error,
    Event,
    Left,
    OfFunction,
    Optimised,
    Optimising,
    Watch,
)
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.request import CannotRun, Request, validate
from jaxlint_runtime.rewrites.candidate_edits import propose
from jaxlint_runtime.rewrites.eager_functions import eager_functions, eager_methods
from jaxlint_runtime.rewrites.edit_search import search_source
from jaxlint_runtime.rewrites.environment_variables import try_settings
from jaxlint_runtime.rewrites.original_program import values_of
from jaxlint_runtime.run import Run
from jaxlint_runtime.source_analysis.calling_loops import calling_loops
from jaxlint_runtime.source_analysis.findings import as_records, check_files
from jaxlint_runtime.source_analysis.imported_files import TooMany, program_files
from jaxlint_runtime.source_analysis.parsing import tree_of
from jaxlint_runtime.spent import CAPTURE, LOWERING, MEASURING, SEARCH
from jaxlint_runtime.workers.following import Deadline, follow
from jaxlint_runtime.workers.measuring_client import lost, measure
from jaxlint_runtime.workers.process import WorkerProcess
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.scratch_copy import Scratch, TooLarge, scratch_copy
from jaxlint_runtime.workers.starting import start_worker, working_folder
from jaxlint_runtime.workers.stored_proofs import keep_calls, stored_calls

_SLACK = 20.0  # seconds for a worker to stop the program after its time is up
_RERUNS = 3  # times that the program is run again after a worker died


@dataclass(slots=True)
class Verification(Run):
    """One `verify` run, in steps: `run()` fills `document`; `check` holds the findings that it used."""

    examine: bool = True  # False: without check
    # Proven edits of the source that are not written yet.
    rewritten: list[Change] = field(default_factory=list)
    written: frozenset[str] = frozenset()  # files that this command has changed, by real path
    error_tail: bytes = b""  # the last lines that the program wrote to stderr
    _left: list[Left] = field(default_factory=list)  # functions that wait for measurement
    # Path, line and target of functions that are decided or have crashed.
    _done: list[tuple[str, int, str]] = field(default_factory=list)
    _at_work: OfFunction | None = None
    _foreseen: CheckResult | None = None
    _placing: PlacementJobs | None = None  # jobs that compile placements
    _postponed: bool = False  # the candidates of functions wait for the edits of the source

    def run(self) -> Document:
        """Runs the program and tries the candidates. Raises CannotRun; Ctrl-C leaves a partial document."""
        validate(self.request)
        try:
            self._run()
            if self.wants_source:
                with self.spent.phase(SEARCH):
                    self.rewritten = search_source(self)
            if {ENVIRONMENT, EAGER} & set(self.request.transforms or ()) and not self.request.is_over:
                for result in try_settings(self):
                    self.report(result)
            written_first = self.request.source_first and self.rewritten
            if self._postponed and not written_first and self._fits_again():
                self._postponed = False
                self._run()
        except KeyboardInterrupt:
            self.document.interrupted = True
            self.say("interrupted: the report holds the results so far")
        shared = self.proofs.shared if self.proofs is not None else None
        if shared is not None and shared.problem is not None:
            self.say(shared.problem)
        return self.document

    def _run(self) -> None:
        calls = self.request.same_calls or stored_calls(self)
        with self.spent.phase(SEARCH):
            flagged = self._flag()
        job = dataclasses.replace(self.request.capture(), flagged=flagged, calls=calls)
        death = self.attempt(job, None)
        working_folder(None)  # without it nothing can be read or written, whether or not a process is due
        for _ in range(_RERUNS):
            if death is None:
                return
            again = self._next_job(job, death)
            if again is None or self.request.is_over:
                return
            self.say("running the program again in a scratch copy of " + str(self.request.project()))
            try:
                with scratch_copy(self.request.project()) as scratch:
                    death = self.attempt(again, scratch)
            except TooLarge as error:
                self.fail(f"the program was not run again: {error}")
                return
        if death is not None:
            self.fail(f"the worker {death}; the program was not run again")

    def _fits_again(self) -> bool:
        """Whether there is time to run the program again, and to measure its functions."""
        if self.request.has_time(2 * self.run_seconds):
            return True
        self.say("the functions were not measured: the --budget leaves no time for it")
        return False

    def _flag(self) -> tuple[tuple[str, int], ...]:
        """The places of findings in files that the program may load, so that their functions are counted."""
        request = self.request
        if not self.examine:
            return ()
        self.listener.progress("checking the files that the program may import")
        try:
            files = program_files(request.kind, request.target, request.arguments, request.roots())
            self._foreseen = check_files(files) if files else None
        except TooMany as number:
            self.say(
                f"calls of flagged functions are not counted: the program may import {number} files or more"
            )
        except Exception:  # tried again, and reported, after the program has run
            self._foreseen = None
        if self._foreseen is None:
            return ()
        places = [(place["path"], place["line"]) for place in as_records(self._foreseen)]
        if self.wants_source:
            places += self._eager(self._foreseen.sources.values())
        return tuple(dict.fromkeys(places))

    @property
    def copies(self) -> Path | None:
        """The folder for scratch copies of the project, in which edited programs run; None for the folder of temporary files."""
        return None

    @property
    def wants_source(self) -> bool:
        """Whether edits of the source should be tried."""
        wanted = self.request.transforms is None or SOURCE in self.request.transforms
        return wanted and self.request.runs and self.request.mesh is None

    @staticmethod
    def _eager(sources: Iterable[SourceFile]) -> Iterator[tuple[str, int]]:
        """Functions that may run op by op, or whose loops a trace unrolls: the run shows how often."""
        for source in sources:
            tree = tree_of(source)
            if tree is None:
                continue
            for function in (*eager_functions(tree), *eager_methods(tree)):
                yield os.path.realpath(source.path), function.lineno

    def _examine(self, files: Sequence[str]) -> CheckResult | None:
        """Checks the files that the program loaded; files checked before the run are not checked again."""
        if not files:
            return None
        before = self._foreseen
        if before is None or not set(files) <= {os.path.realpath(path) for path in before.sources}:
            return check_files(files)
        loaded = set(files)
        return dataclasses.replace(
            before,
            findings=[one for one in before.findings if os.path.realpath(one.path) in loaded],
            errors=[one for one in before.errors if os.path.realpath(one.path) in loaded],
            files=len(loaded),
        )

    def _next_job(self, job: Capture, death: Death) -> Capture | None:
        """The rest of the work after a worker died; None if there is none. Reports the loss."""
        if self._at_work is not None:
            one, self._at_work = self._at_work, None
            self._done.append((one.path, one.line, one.target))
            reason = f"the worker {death} while it lowered candidates for {one.function}"
            self.report(lost(one, Status.FAILED, reason, "all"), one.target)
            self.say(reason)
            left = [
                function
                for function in self.document.functions
                for target in self.document.targets
                if (function["path"], function["line"], target) not in self._done
            ]
            return job if left else None
        if self.document.ran:
            self.fail(f"the worker {death}")
            return None
        seen = max((function["calls"] for function in self.document.functions), default=None)
        self.fail(f"the program {death}")
        self.document.program["exit_status"] = death.status
        if seen is None or job.until.calls == 1 or job.launch.examples is not None:
            return None
        until = dataclasses.replace(job.until, calls=max(1, seen - 1), settle=False)
        return dataclasses.replace(job, until=until)

    def trial(self, request: Request) -> Verification:
        """A run of the same kind for an edited program, without check."""
        return Verification(request, self.listener, examine=False)

    def values_of(
        self,
        sources: Mapping[str, SourceFile],
        functions: Sequence[tuple[str, str]],
        dtype: str | None = None,
    ) -> str | None:
        """How the results of the program with these texts differ from the original's; None if they do not."""
        return values_of(self, sources, functions, dtype)

    def attempt(self, job: Capture, scratch: Scratch | None) -> Death | None:
        """One run of the program, to its end or its death; its exports are measured once its process is gone."""
        self._left = []
        done = tuple(self._done)
        with tempfile.TemporaryDirectory(prefix="jaxlint-candidates-") as folder:
            mesh, workers = self.request.mesh, self.request.workers
            count = 0 if workers is None else workers.side_by_side
            then = Leave(folder, done) if mesh is None else Shard(mesh, done, jobs=count)
            job = dataclasses.replace(job, then=then)
            with start_worker(self.request, job, scratch, self.listener.output) as worker:
                try:
                    with self.spent.phase(CAPTURE):
                        death = self._follow(worker, job, scratch)
                finally:
                    self.error_tail = worker.error_tail
                    if self._placing is not None:
                        self._placing.close()
                        self._placing = None
            with self.spent.phase(MEASURING):
                self._measure(job, scratch)
        return death

    def _place(self, worker: WorkerProcess, question: PlacementQuestion) -> None:
        """Passes a placement on to the jobs of --workers."""
        workers = self.request.workers
        assert workers is not None
        if self._placing is None:
            self._placing = PlacementJobs(
                self, workers, lambda: open_engine(workers, self.listener.output), worker.send
            )
        self._placing.ask(question)

    def _measure(self, job: Capture, scratch: Scratch | None) -> None:
        """Proves the exported functions of one run of the program: here one after the other, or where --workers says."""
        workers = self.request.workers
        if workers is None:
            for target, result in measure(self, job, scratch, self._left) if self._left else ():
                self.report(result, target)
        elif self._left:
            with contextlib.closing(open_engine(workers, self.listener.output)) as engine:
                Dispatch(self, job, scratch, self._left, engine).run()

    def _follow(self, worker: WorkerProcess, job: Capture, scratch: Scratch | None) -> Death | None:
        """Processes a worker's events; returns how it died, if it did."""
        seconds, limit = self.request.timeout, job.until.run_for
        patience = Deadline(seconds, f"took longer than {seconds:g} s (--timeout) and was killed")
        stopping: list[Deadline] = []  # when a healthy worker must have stopped the program
        whole = Deadline.within(self.request, math.inf, "")

        def hear(event: Event) -> None:
            if isinstance(event, Optimising | Optimised | Captured):
                patience.renew()
                stopping.clear()
            elif isinstance(event, Watch) and not stopping and limit is not None:
                if any(one.calls for one in event.functions):
                    cause = "did not stop in time and was killed"
                    stopping.append(Deadline(limit + _SLACK, cause))
            if isinstance(event, PlacementQuestion):
                self._place(worker, event)
            elif isinstance(event, Captured):
                self.spent.turn(SEARCH)
                self._captured(event)
                known = self.known(go_on=not self._postponed)
                worker.send(known if scratch is None else known.moved(scratch.to_copy))
                self.spent.turn(LOWERING)
                patience.renew()
            else:
                self.hear(event)

        def look() -> float:
            if self._placing is None:
                return math.inf
            if self._placing.is_busy:
                patience.renew()  # jobs have limits of their own
            return self._placing.look()

        try:
            last = follow(worker, hear, lambda: [whole, patience, *stopping], scratch, look)
        except Death as death:
            return death
        if isinstance(last, Error):
            if last.refused:
                raise CannotRun(last.message)
            self.fail(last.message)
        return None

    def hear(self, event: Event) -> None:
        """Records a worker's event, and the functions that it works on."""
        match event:
            case Optimising():
                self._at_work = event
                self.listener.progress(f"{event.function}: lowering candidates for {event.target}")
            case Left():
                self._left.append(event)
            case Optimised():
                self._at_work = None
                self._done.append((event.path, event.line, event.target))
            case _:
                Run.hear(self, event)

    def _captured(self, event: Captured) -> None:
        """The program has ended: checks the files that it loaded."""
        first = not self.document.ran
        if first:
            self.document.captured(event)
            self.packages = event.packages
            keep_calls(self)
        self.say(event.ending.message + _advice(event.ending.how))
        for problem in event.problems if first else ():
            self.fail(problem)
        if first and self.examine:
            self.listener.progress("checking the files that the program imported")
            try:
                self.check = self._examine(event.files)
            except ConfigError as error:
                self.fail(f"the files were not checked: {error}")
            except Exception as error:  # a rule's internal error must not cost the measurements
                self.fail(f"the files were not checked: {type(error).__name__}: {error}")
            for unread in self.check.errors[:3] if self.check is not None else ():
                self.say(f"not checked: {unread}")
        if first:
            self.run_seconds, self.start_seconds = event.seconds, event.start_s
        self.document.add_findings(as_records(self.check) if self.check is not None else [])
        self.document.loops = calling_loops(self.check.sources.values()) if self.check is not None else {}
        if first and self.wants_source:
            self._postponed = self._begins_with_source()

    def _begins_with_source(self) -> bool:
        """Whether edits of the source are tried before the candidates of functions: with --apply, which may replace those
        functions, and with a budget, where more time is spent outside them than in them."""
        request = self.request
        if not request.source_first and request.ends is None:
            return False
        rewrites = propose(self)
        if request.source_first:
            return bool(rewrites)
        host = max((one.estimate for one in rewrites), default=0.0)
        inside = sum(one["weight_seconds"] or 0.0 for one in self.document.functions)
        return host - inside > inside  # code that an edit compiles may call jitted functions


def _advice(how: str) -> str:
    return " (see --calls and --for)" if how == "stopped" else ""
