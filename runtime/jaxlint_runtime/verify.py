"""The function behind `jaxlint verify`: runs the program in workers until every candidate is decided.

A worker that dies takes with it what it was doing, never the run: the loss is a result or a line of the report, and
what is left is done by a second run of the program, in a scratch copy.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxlint.config import ConfigError
from jaxlint.engine import CheckResult
from jaxlint.source.file import SourceFile
from jaxlint.source.write import Change
from jaxlint_runtime.model import Status
from jaxlint_runtime.protocol.messages import Job, to_plain
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.rewrites.eager_functions import eager_functions, looping_methods
from jaxlint_runtime.settings import EAGER, ENVIRONMENT, PROGRAM, SOURCE
from jaxlint_runtime.sharding.mesh import simulate
from jaxlint_runtime.source_analysis.findings import as_records, check_files
from jaxlint_runtime.source_analysis.imported_files import TooMany, program_files
from jaxlint_runtime.source_analysis.unused_after_call import callers_give_up
from jaxlint_runtime.targets import UnknownTarget, parse
from jaxlint_runtime.workers.measuring_client import Candidates, lost, to_originals
from jaxlint_runtime.workers.process import Death, WorkerProcess, default_memory_limit
from jaxlint_runtime.workers.scratch_copy import Scratch, TooLarge, project_root, scratch_copy

_SLACK = 20.0  # seconds that a worker is given to stop the program when its time is up
_RERUNS = 3  # times that the program is run again after a worker died


class CannotRun(Exception):
    """The program cannot be run; the message is one line and says what to do."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to verify, and how far to go. Times in seconds, sizes in bytes."""

    kind: str  # "script", "module" or "pytest"
    target: str
    arguments: tuple[str, ...] = ()
    python: str = sys.executable
    calls: int | None = 20
    settle: bool = False  # stop after `calls` calls only once the run has settled
    run_for: float | None = 60.0
    timeout: float = 600.0  # for the program, and again for the candidates of each function
    memory_limit: int | None = None  # None: nine tenths of what is free
    capture_bytes: int = 512 * 2**20
    include_packages: bool = False
    targets: tuple[str, ...] = ()  # empty: the device that the program runs on
    transforms: tuple[str, ...] | None = None
    seconds: float | None = None
    source_first: bool = False  # try edits of the source before candidates of functions that they may replace
    costs: bool = False  # tell what the functions cost as they are, too
    device_memory: int | None = None  # what a function may need on the device
    dump: str | None = None  # folder for the staged programs
    trace: str | None = None  # folder for profiler traces
    profile_server: int | None = None  # port
    mesh: tuple[tuple[str, int], ...] | None = None  # names and sizes of axes: look at sharding alone
    inputs: str | None = None  # file with examples: its functions are called, the program is not run
    # Sizes of named dimensions, for examples and annotations.
    dims: Mapping[str, int] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether the program is run, rather than its functions called with examples."""
        return self.inputs is None and not self.dims

    def job(self) -> Job:
        """The first worker's job. Raises CannotRun when there is nothing to run."""
        return Job(
            kind=self.kind,
            target=self.target,
            arguments=list(self.arguments),
            roots=[str(root) for root in self.roots()],
            calls=self.calls if self.runs else None,
            settle=self.settle and self.runs,
            run_for=self.run_for,
            capture_bytes=self.capture_bytes,
            include_packages=self.include_packages,
            targets=list(self.targets),
            transforms=None if self.transforms is None else [x for x in self.transforms if x not in PROGRAM],
            seconds=self.seconds,
            costs=self.costs,
            device_memory=self.device_memory,
            dump=self.dump,
            trace=self.trace,
            profile_server=self.profile_server,
            mesh=None if self.mesh is None else [list(axis) for axis in self.mesh],
            examples=None if self.runs else {"file": self.inputs, "dims": dict(self.dims)},
        )

    def roots(self) -> list[Path]:
        """Folders whose code is the user's: that of the program, the project around it, the working directory."""
        here = Path.cwd().resolve()
        if self.kind != "script":
            return _distinct([here, project_root(here)])
        folder = Path(self.target).resolve()
        folder = folder if folder.is_dir() else folder.parent
        root = project_root(folder)
        return _distinct([folder, root, *([here] if here.is_relative_to(root) else [])])

    def project(self) -> Path:
        """The folder that a scratch copy is made of."""
        return max(self.roots(), key=lambda root: -len(root.parts))


def _distinct(paths: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(paths))


@dataclass(slots=True)
class Listener:
    """Who is told what happens: lines that stay, lines that pass, what the program prints."""

    note: Callable[[str], None] = lambda message: None
    progress: Callable[[str], None] = lambda message: None
    output: Callable[[str, bytes], None] = lambda stream, data: None


@dataclass(slots=True)
class Verification:
    """One run of `verify`, in steps: `run()` fills `document`; `check` holds the findings that it used."""

    request: Request
    listener: Listener = field(default_factory=Listener)
    document: Document = field(init=False)
    check: CheckResult | None = None
    examine: bool = True  # False: leave out check
    # Edits of the source that are proven, not yet written.
    rewritten: list[Change] = field(default_factory=list)
    written: frozenset[str] = frozenset()  # files that this command has changed, by real path
    error_tail: bytes = b""  # the last that the program wrote to stderr
    run_seconds: float = 0.0  # that the program ran until it was captured
    _left: list[dict[str, Any]] = field(default_factory=list)  # functions that wait to be measured
    _skip: list[list[Any]] = field(default_factory=list)
    _at_work: dict[str, Any] | None = None
    _foreseen: CheckResult | None = None
    _postponed: bool = False  # the candidates of functions wait for the edits of the source

    def __post_init__(self) -> None:
        request = self.request
        self.document = Document(
            program={"kind": request.kind, "target": request.target, "arguments": list(request.arguments)},
            targets=list(request.targets),
        )

    def run(self) -> Document:
        """Run the program and try the candidates. Raises CannotRun; Ctrl-C leaves a partial document."""
        validate(self.request)
        try:
            self._run()
            if self.wants_source:
                from jaxlint_runtime.rewrites.edit_search import search_source

                search_source(self)
            if {ENVIRONMENT, EAGER} & set(self.request.transforms or ()):
                from jaxlint_runtime.rewrites.environment_variables import try_settings

                try_settings(self)
            if self._postponed and not self.rewritten:
                self._postponed = False
                self._run()
        except KeyboardInterrupt:
            self.document.interrupted = True
            self.say("interrupted: what follows is what was known by then")
        return self.document

    def _run(self) -> None:
        job = dataclasses.replace(self.request.job(), flagged=self._flag())
        death = self.attempt(job, None)
        for _ in range(_RERUNS):
            if death is None:
                return
            again = self._next_job(job, death)
            if again is None:
                return
            self.say("running the program again, in a scratch copy of " + str(self.request.project()))
            try:
                with scratch_copy(self.request.project()) as scratch:
                    death = self.attempt(again, scratch)
            except TooLarge as error:
                self._fail(f"the program was not run again: {error}")
                return
        if death is not None:
            self._fail(f"the worker {death}; it was not tried again")

    def _flag(self) -> list[list[Any]]:
        """The places of findings in the files that the program may load, so that their functions are counted."""
        request = self.request
        if not self.examine:
            return []
        self.listener.progress("checking the files that the program may load")
        try:
            files = program_files(request.kind, request.target, request.arguments, request.roots())
            self._foreseen = check_files(files) if files else None
        except TooMany as number:
            self.say(f"functions with findings are not counted: the program may load {number} files or more")
        except Exception:  # the same is tried, and reported, once the program has run
            self._foreseen = None
        if self._foreseen is None:
            return []
        places = [(place["path"], place["line"]) for place in as_records(self._foreseen)]
        if self.wants_source:
            places += self._eager(self._foreseen.sources.values())
        return [list(place) for place in dict.fromkeys(places)]

    @property
    def wants_source(self) -> bool:
        """Whether edits of the source are to be tried."""
        wanted = self.request.transforms is None or SOURCE in self.request.transforms
        return wanted and self.request.runs and self.request.mesh is None

    @staticmethod
    def _eager(sources: Iterable[SourceFile]) -> Iterator[tuple[str, int]]:
        """Functions that may run operation by operation, or have their loops written out: how often they do shows in the run."""
        for source in sources:
            try:
                tree = ast.parse(source.text)
            except (SyntaxError, ValueError, RecursionError):
                continue
            for function in (*eager_functions(tree), *looping_methods(tree)):
                yield os.path.realpath(source.path), function.lineno

    def _examine(self, files: Sequence[str]) -> CheckResult | None:
        """Check the files that the program loaded; what was examined before the run is not examined again."""
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

    def _next_job(self, job: Job, death: Death) -> Job | None:
        """What is left to do after a worker died; None when nothing is. Reports the loss."""
        if self._at_work is not None:
            place, self._at_work = self._at_work, None
            self._skip.append([place["path"], place["line"], place["target"]])
            reason = f"the worker {death} while it staged candidates for {place['function']}"
            self.document.results.append(
                (place["target"], to_plain(lost(place, Status.FAILED, reason, "all")))
            )
            self.say(reason)
            done = {tuple(entry) for entry in self._skip}
            left = [
                function
                for function in self.document.functions
                for target in self.document.targets
                if (function["path"], function["line"], target) not in done
            ]
            return dataclasses.replace(job, skip=self._skip) if left else None
        if self.document.ran:
            self._fail(f"the worker {death}")
            return None
        seen = max((function["calls"] for function in self.document.functions), default=None)
        self._fail(f"the program {death}")
        self.document.program["exit_status"] = death.status
        if seen is None or job.calls == 1 or job.examples is not None:
            return None
        return dataclasses.replace(job, calls=max(1, seen - 1), settle=False)

    def attempt(self, job: Job, scratch: Scratch | None) -> Death | None:
        """One run of the program, to its end or its death; what it left is measured once its process is gone."""
        self._left = []
        with tempfile.TemporaryDirectory(prefix="jaxlint-candidates-") as artefacts:
            moved, folder = relocate(dataclasses.replace(job, artefacts=artefacts), scratch)
            with start_worker(self.request, moved, folder, scratch, self.listener.output) as worker:
                try:
                    death = self._follow(worker, moved, scratch)
                finally:
                    self.error_tail = worker.error_tail
            if self._left:
                Candidates(self, job, scratch).measure(self._left)
        return death

    def _follow(self, worker: WorkerProcess, job: Job, scratch: Scratch | None) -> Death | None:
        deadline = time.monotonic() + self.request.timeout
        stop_by: float | None = None  # when a worker that is well has stopped the program
        try:
            while True:
                event = worker.next_event(0.2)
                if event is None:
                    if time.monotonic() > deadline:
                        worker.kill(
                            f"took longer than {self.request.timeout:g} seconds (--timeout) and was ended"
                        )
                    elif stop_by is not None and time.monotonic() > stop_by:
                        worker.kill("did not answer when it was to stop, and was ended")
                    continue
                if scratch is not None:
                    event = to_originals(event, scratch)
                kind = event["event"]
                if kind in ("optimising", "optimised", "captured"):
                    deadline = time.monotonic() + self.request.timeout
                    stop_by = None
                elif kind == "watch" and stop_by is None and job.run_for is not None:
                    if any(function["calls"] for function in event["functions"]):
                        stop_by = time.monotonic() + job.run_for + _SLACK
                if kind == "captured":
                    self._captured(event)
                    worker.send({**self.known(scratch), "optimise": not self._postponed})
                    deadline = time.monotonic() + self.request.timeout
                elif kind == "error":
                    self._fail(event["message"])
                    return None
                elif kind == "done":
                    return None
                else:
                    self.heard(kind, event)
        except Death as death:
            return death

    def _captured(self, event: Mapping[str, Any]) -> None:
        """The program is over: examine the files that it loaded."""
        first = not self.document.ran
        if first:
            self.document.captured(event)
        self.say(event["ending"]["message"] + _advice(event["ending"]["how"]))
        for problem in event["problems"] if first else ():
            self._fail(problem)
        if first and self.examine:
            self.listener.progress("checking the files that the program loaded")
            try:
                self.check = self._examine(event["files"])
            except ConfigError as error:
                self._fail(f"the files were not checked: {error}")
            except Exception as error:  # a defect of a rule must not cost the measurements
                self._fail(f"the files were not checked: {type(error).__name__}: {error}")
            for problem in self.check.errors[:3] if self.check is not None else ():
                self.say(f"not checked: {problem}")
        if first:
            self.run_seconds = event["seconds"]
        self.document.add_findings(as_records(self.check) if self.check is not None else [])
        if first and self.request.source_first and self.wants_source:
            from jaxlint_runtime.rewrites.candidate_edits import propose

            self._postponed = bool(propose(self))

    def known(self, scratch: Scratch | None) -> dict[str, list[Any]]:
        """What a worker is told of the source, with its paths in a scratch copy: findings, and what callers give up."""
        records = as_records(self.check) if self.check is not None else []
        sources = self.check.sources if self.check is not None else {}
        given = callers_give_up(self.document.functions, sources)
        if scratch is not None:
            records = [{**record, "path": scratch.to_copy(record["path"])} for record in records]
            given = [[scratch.to_copy(path), *rest] for path, *rest in given]
        return {"findings": records, "given_up": given}

    def heard(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take in one event."""
        if kind == "watch":
            self.document.progressed(event)
            busiest = max(event["functions"], key=lambda entry: entry["calls"], default=None)
            text = f"the program runs, {event['seconds']:.0f} s"
            if busiest is not None:
                text += f": {busiest['calls']} calls of {busiest['function']}"
            self.listener.progress(text)
        elif kind == "note":
            self.say(event["message"])
        elif kind == "progress":
            self.listener.progress(event["message"])
        elif kind == "constants":
            self.document.learned(event)
        elif kind == "inspected":
            self.document.inspected({key: value for key, value in event.items() if key != "event"})
        elif kind == "sharding":
            self.document.shardings.append((event["target"], event["sharding"]))
        elif kind == "peaks":
            self.document.peaks[event["target"]] = event["peaks"]
        elif kind == "optimising":
            self._at_work = dict(event)
            self.listener.progress(f"staging candidates for {event['function']} for {event['target']}")
        elif kind == "result":
            self.document.results.append((event["target"], event["result"]))
        elif kind == "left":
            self._left.append(dict(event))
        elif kind == "optimised":
            self._at_work = None
            self._skip.append([event["path"], event["line"], event["target"]])

    def say(self, message: str) -> None:
        """A line for the reader, now and in the report."""
        self.document.notes.append(message)
        self.listener.note(message)

    def _fail(self, message: str) -> None:
        self.document.errors.append(message)
        self.listener.note(message)


def _advice(how: str) -> str:
    return " (--calls and --for change when)" if how == "stopped" else ""


def validate(request: Request) -> None:
    """Say in one line what is wrong before anything is started. Raises CannotRun."""
    if request.kind == "script":
        path = Path(request.target)
        if not path.exists():
            raise CannotRun(
                f"{request.target}: there is no such program; for a module use -m, for tests --pytest"
            )
        if not request.runs and path.suffix != ".py":
            raise CannotRun(f"{request.target}: functions are called in a Python file or a module (-m) alone")
        if path.is_dir() and not (path / "__main__.py").is_file():
            raise CannotRun(f"{request.target}: is a folder without a __main__.py; name the program to run")
        if not os.access(path, os.R_OK):
            raise CannotRun(f"{request.target}: cannot be read; check its permissions")
    if request.inputs is not None and not os.access(request.inputs, os.R_OK):
        raise CannotRun(f"{request.inputs}: there is no such examples file, or it cannot be read (--inputs)")
    if not request.runs and request.kind == "pytest":
        raise CannotRun("--inputs and --dim call functions of a program: name it, or its module with -m")
    whole = next((name for name in request.transforms or () if name in PROGRAM), None)
    if not request.runs and whole is not None:
        raise CannotRun(f"--transform {whole} runs the program: leave out --inputs and --dim")
    for name in request.targets:
        try:
            parse(name)
        except UnknownTarget as error:
            raise CannotRun(f"--target: {error}") from None
    if shutil.which(request.python) is None:
        raise CannotRun(
            f"{request.python}: is no program that can be run; name a Python interpreter with --python"
        )


def start_worker(
    request: Request,
    job: Job,
    folder: str,
    scratch: Scratch | None,
    output: Callable[[str, bytes], None],
    extra: Mapping[str, str] | None = None,
) -> WorkerProcess:
    """A worker for the job, under the request's interpreter and limits, with `extra` in its environment. Raises CannotRun."""
    environment = {**os.environ, **(extra or {})}
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    for name in request.targets:
        for key, value in parse(name).environment.items():
            if key == "XLA_FLAGS":  # comes with what is set already
                environment[key] = value
            else:
                environment.setdefault(key, value)
    if request.mesh is not None:
        simulate(environment, request.mesh)
    try:
        return WorkerProcess(
            job,
            python=request.python,
            folder=folder,
            environment=environment,
            memory_limit=request.memory_limit or default_memory_limit(),
            output=output,
        )
    except OSError as error:
        if not os.path.isdir(folder):
            raise _gone(folder) from None
        raise CannotRun(f"{request.python}: cannot be started ({error.strerror})") from None


def _gone(folder: str) -> CannotRun:
    return CannotRun(f"{folder}: is gone: the program removed the folder that it runs in; have it keep that")


def relocate(job: Job, scratch: Scratch | None) -> tuple[Job, str]:
    """The job and the working directory, in the scratch copy where they lie in what was copied. Raises CannotRun."""
    try:
        here = os.getcwd()
    except OSError:
        raise _gone("the working folder") from None
    if scratch is None:
        return job, here
    target = job.target
    if job.kind == "script":
        target = scratch.to_copy(os.path.realpath(target))
    moved = dataclasses.replace(
        job,
        target=target,
        roots=[scratch.to_copy(root) for root in job.roots],
        skip=[[scratch.to_copy(path), *rest] for path, *rest in job.skip],
        flagged=[[scratch.to_copy(path), line] for path, line in job.flagged],
        only=None if job.only is None else [[scratch.to_copy(path), *rest] for path, *rest in job.only],
        examples=_moved_examples(job.examples, scratch),
        relocated=[str(scratch.root), str(scratch.folder)],
    )
    folder = scratch.to_copy(os.path.realpath(here))
    return moved, folder if os.path.isdir(folder) else here


def _moved_examples(examples: dict[str, Any] | None, scratch: Scratch) -> dict[str, Any] | None:
    """The examples file in the scratch copy, where it lies in what was copied."""
    if examples is None or examples["file"] is None:
        return examples
    return {**examples, "file": scratch.to_copy(os.path.realpath(examples["file"]))}
