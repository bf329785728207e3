"""The options of a `jaxlint verify` run."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from jaxlint_runtime.job_step import JobStep
from jaxlint_runtime.optimiser_settings import PROGRAM
from jaxlint_runtime.protocol.jobs import Capture, Examples, Launch, Trying, Until
from jaxlint_runtime.targets import UnknownTarget, parse

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")


class CannotRun(Exception):
    """The program cannot be run; the message is one line and says what to do."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Where candidates are tried, if not one after the other in one process."""

    engine: str  # "local", "submitit" or "ray"
    place: str | None = None  # the partition of Slurm, the address of Ray
    side_by_side: int = 1  # of "local", and of a search for placements
    options: Mapping[str, str] = field(default_factory=dict)  # for the engine, as they were given
    wait: float = 600.0  # seconds that a job may wait for its machine


@dataclass(frozen=True, slots=True)
class Request:
    """What to verify, and the limits. Times in seconds, sizes in bytes."""

    kind: str  # "script", "module" or "pytest"
    target: str
    arguments: tuple[str, ...] = ()
    also: tuple[tuple[str, ...], ...] = ()  # arguments of further runs, in which edits are compared too
    python: str = sys.executable
    calls: int | None = 20
    settle: bool = False  # stop after `calls` calls only once the run has settled
    run_for: float | None = 60.0
    timeout: float = 600.0  # for the program, and again for the candidates of each function
    memory_limit: int | None = None  # None: nine tenths of the free memory
    capture_bytes: int | None = None  # None: a sixteenth of the free memory, at least 512 MiB
    include_packages: bool = False
    targets: tuple[str, ...] = ()  # empty: the device that the program runs on
    transforms: tuple[str, ...] | None = None
    seconds: float | None = None  # for timing one candidate
    ends: float | None = None  # by time.monotonic: when all of it is to be over
    budget: float | None = None  # that it had at the start
    # How many times the processor time of the captured run all of it may use; None: as much as it needs.
    price: float | None = None
    proofs: bool = False  # whether proofs of earlier runs are used, and those of this one are stored
    shared_proofs: str | None = None  # a folder or URL whose proofs others use as well
    only_written: bool = False  # leave out what --apply would never write
    source_first: bool = False  # try edits of the source before candidates of functions that they may replace
    costs: bool = False  # also report the cost of the original functions
    least_saved: int = 0  # bytes that a candidate must save to be tried
    same_calls: tuple[
        tuple[str, str, int], ...
    ] = ()  # whose inputs to capture, as the baseline of --compare did
    device_memory: int | None = None  # memory limit of a function on the device
    dump: str | None = None  # folder for the staged programs
    trace: str | None = None  # folder for profiler traces
    profile_server: int | None = None  # port
    mesh: tuple[tuple[str, int], ...] | None = None  # names and sizes of axes: look at sharding alone
    inputs: str | None = None  # file with examples: its functions are called, and the program does not run
    # Sizes of named dimensions, for examples and annotations.
    dims: Mapping[str, int] = field(default_factory=dict)
    workers: Workers | None = None  # None: candidates are tried here, one function after the other

    @property
    def own_python(self) -> str | None:
        """The program's interpreter, if it is not the one that runs jaxlint."""
        return None if self.python == sys.executable else self.python

    def within(self, seconds: float) -> float:
        """`seconds`, or the remaining time of the whole run if that is less."""
        return seconds if self.ends is None else max(0.0, min(seconds, self.ends - time.monotonic()))

    def has_time(self, seconds: float) -> bool:
        """Whether so many seconds of the whole run remain."""
        return self.within(seconds) >= seconds

    @property
    def is_over(self) -> bool:
        """Whether the time of the whole run is used up."""
        return self.within(1.0) <= 0.0

    @property
    def runs(self) -> bool:
        """Whether the program runs, as opposed to calls of its functions with examples."""
        return self.inputs is None and not self.dims

    def launch(self) -> Launch:
        """The program for a worker."""
        return Launch(
            kind=self.kind,
            target=self.target,
            arguments=self.arguments,
            roots=tuple(map(str, self.roots())),
            include_packages=self.include_packages,
            examples=None if self.runs else Examples(self.inputs, dict(self.dims)),
        )

    def capture(self) -> Capture:
        """The first worker's job, without the step after the capture."""
        return Capture(
            launch=self.launch(),
            until=Until(
                self.calls if self.runs else None, self.settle and self.runs, self._run_for(), self._share()
            ),
            trying=self.trying(),
            capture_bytes=self.capture_bytes or _default_capture_bytes(),
            targets=self.targets,
            profile_server=self.profile_server,
        )

    def _run_for(self) -> float | None:
        """How long the program runs to be captured, after its first captured call."""
        share = self._share()
        return min((one for one in (self.run_for, share) if one is not None), default=None)

    def _share(self) -> float | None:
        """The time limit of the captured program: a third of the remaining time of the whole run."""
        return None if self.ends is None else self.within(math.inf) / 3

    def trying(self) -> Trying:
        """How candidates of functions are tried."""
        names = self.transforms
        return Trying(
            transforms=None if names is None else tuple(name for name in names if name not in PROGRAM),
            seconds=self.seconds,
            costs=self.costs,
            device_memory=self.device_memory,
            dump=self.dump,
            trace=self.trace,
        )

    def roots(self) -> list[Path]:
        """Folders with the user's code: those of the program, the project around it, the working directory."""
        here = Path.cwd().resolve()
        if self.kind != "script":
            return _distinct([here, project_root(here)])
        folder = Path(self.target).resolve()
        folder = folder if folder.is_dir() else folder.parent
        root = project_root(folder)
        return _distinct([folder, root, *([here] if here.is_relative_to(root) else [])])

    def project(self) -> Path:
        """The folder that scratch copies copy."""
        return max(self.roots(), key=lambda root: -len(root.parts))


BY_RAY = ("ray",)  # a launcher that is no command


@dataclass(frozen=True, slots=True)
class InStep:
    """How the processes of one program are started, and when they count as stalled."""

    stall: float  # seconds without a launch while others wait
    processes: int | None = None  # on this machine, with CPU devices; None: the launcher says
    local_devices: int = 1  # simulated, of each of `processes`
    launcher: tuple[str, ...] = ()  # command that starts the processes
    shared: str | None = None  # folder that all processes see; the lists stay there
    step: JobStep | None = None  # whose processes all run this command

    @property
    def joins(self) -> bool:
        """Whether other machines run the same command for the other processes, with the same folder."""
        return self.step is not None or (
            self.processes is None and not self.launcher and self.shared is not None
        )

    @property
    def by_ray(self) -> bool:
        """Whether the program is a script whose `JaxTrainer` starts the processes."""
        return self.launcher == BY_RAY

    @property
    def counted(self) -> str:
        """The processes, in words."""
        count = self.step.processes if self.step else self.processes
        return f"{count} processes" if count else "the processes of its launcher"

    def shown(self, request: Request) -> str:
        """The started command, in words."""
        return " ".join(self.launcher) if self.launcher else request.python

    def validate(self, request: Request) -> None:
        """Checks the options before anything starts. Raises CannotRun with one line."""
        if request.kind == "pytest":
            raise CannotRun(
                "--pytest runs one process; name a script that all processes run, or a module with -m"
            )
        if not (self.launcher or self.processes or self.shared or self.step):
            raise CannotRun(
                "--lockstep needs the other processes: give --processes N, --launcher COMMAND, or all of them one --shared FOLDER"
            )
        if self.launcher and self.processes is not None:
            raise CannotRun("--launcher says how many processes there are; leave out --processes")
        if self.launcher and not self.by_ray and shutil.which(self.launcher[0]) is None:
            raise CannotRun(f"--launcher: {self.launcher[0]} cannot be run here; check the path")
        if self.shared is not None and not os.access(self.shared, os.W_OK | os.X_OK):
            raise CannotRun(f"--shared {self.shared}: cannot be written to; name another folder")


def _distinct(paths: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(paths))


def project_root(start: Path) -> Path:
    """The nearest folder above `start` that looks like a project's top folder, otherwise `start` itself."""
    try:
        home: Path | None = Path.home()
    except RuntimeError:  # a user without one, as in containers
        home = None
    for folder in (start, *start.parents):
        if folder == home or folder == folder.parent:
            break
        if any((folder / marker).exists() for marker in _MARKERS):
            return folder
    return start


def validate(request: Request) -> None:
    """Checks the request before anything starts. Raises CannotRun with one line."""
    if request.kind == "script":
        path = Path(request.target)
        if not path.exists():
            raise CannotRun(f"{request.target}: no such program; use -m for a module, --pytest for tests")
        if not request.runs and path.suffix != ".py":
            raise CannotRun(
                f"{request.target}: --inputs and --dim import the program; name a .py file or a module (-m)"
            )
        if path.is_dir() and not (path / "__main__.py").is_file():
            raise CannotRun(f"{request.target}: the folder has no __main__.py; name the program to run")
        if not os.access(path, os.R_OK):
            raise CannotRun(f"{request.target}: the file cannot be read; check its permissions")
    if request.inputs is not None and not os.access(request.inputs, os.R_OK):
        raise CannotRun(f"{request.inputs}: the examples file of --inputs is missing or cannot be read")
    if not request.runs and request.kind == "pytest":
        raise CannotRun(
            "--inputs and --dim call functions of a program; name the program, or its module with -m"
        )
    if request.also and (not request.runs or request.mesh is not None):
        raise CannotRun("--also is for edits of the source: leave out --inputs, --dim and --mesh")
    whole = next((name for name in request.transforms or () if name in PROGRAM), None)
    if not request.runs and whole is not None:
        raise CannotRun(f"--transform {whole} runs the program: leave out --inputs and --dim")
    for name in request.targets:
        try:
            parse(name)
        except UnknownTarget as error:
            raise CannotRun(f"--target: {error}") from None
    if shutil.which(request.python) is None:
        raise CannotRun(f"{request.python}: cannot be run; name a Python interpreter with --python")


def _default_capture_bytes() -> int:
    """A sixteenth of the memory that is free now, at least 512 MiB: a proof holds the copies, their
    variations and the results of each.
    """
    return max(512 * 2**20, psutil.virtual_memory().available // 16)
