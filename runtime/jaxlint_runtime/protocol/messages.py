"""What the command line and the worker process say to each other: one JSON object a line, over two pipes of their own.

To the worker: a `Job`, later one line `{"findings": [...], "given_up": [...], "optimise": bool}`; to one that measures, lines with one key (see `workers.measuring_server`).
From the worker: events, each with a key `event`:

- `hello`: it is up; `python`, `pid`
- `note`: a line for the reader; `message`. `progress`: the same, soon outdated
- `watch`: how far the program is; `functions` [{function, path, line, calls, inner_calls, compiles}], `seconds`
- `captured`: the program is over; everything seen (see `capture.session.Session.summary`)
- `sharding`: how to split the inputs of a function over a mesh (see `sharding.shard_function.record`); `target`, `sharding`
- `constants`: large arrays that a function captures; `path`, `line`, `constants` [{shape, dtype, nbytes}]
- `inspected`: what one version of a function does (see `inspection.overview`); `function`, `path`, `line`, `target`, `version`
- `peaks`: what a target can do at most; `target`, `peaks`
- `optimising`, `result`, `optimised`: one function's candidates begin, are decided, are through
- `left`: a function and its candidates are left for the processes that measure them (see `workers.main.Worker._leave`)
- `ready`, `proven`: answers of a process that measures (see `workers.measuring_server`)
- `trial`: one whole run of a version is over (see `capture.trial_run`)
- `error`: it cannot go on; `message`. `done`: nothing more comes
"""

from __future__ import annotations

import dataclasses
import enum
import errno
import fcntl
import json
import math
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUN_FOLDER = "jaxlint-run-"  # how the name of a run's folder of temporary files begins
_HIGH = 200  # descriptors from here on survive programs that close "all" low ones


@dataclass(frozen=True, slots=True)
class Job:
    """What one worker is to do. Times in seconds, sizes in bytes."""

    kind: str  # "script", "module", "pytest"
    target: str
    arguments: list[str]
    roots: list[str]  # folders of the user's code
    calls: int | None = 20  # enough calls of the busiest function; None: run to the end
    settle: bool = False  # not before the run has settled: see `capture.stop_condition`
    run_for: float | None = 60.0  # after the first captured call; None: run to the end
    capture_bytes: int = 512 * 1024 * 1024
    include_packages: bool = False
    targets: list[str] = field(default_factory=list)  # empty: the device that the program ran on
    transforms: list[str] | None = None  # None: all
    seconds: float | None = None  # for timing one candidate; None: the optimiser's own default
    skip: list[list[Any]] = field(default_factory=list)  # [path, line, target] that crashed or are done
    # [path, line] of findings: count the functions around.
    flagged: list[list[Any]] = field(default_factory=list)
    only: list[list[Any]] | None = None  # [path, qualname] to look at; None: all
    undonated: bool = False  # measure `only` against themselves without their donation
    costs: bool = False  # tell what the functions cost as they are, too
    device_memory: int | None = None  # what a function may need on the device; None: as little as can be had
    dump: str | None = None  # folder for the staged programs
    trace: str | None = None  # folder for profiler traces
    mesh: list[list[Any]] | None = (
        None  # [name, size] of axes: look at sharding over them, and at nothing else
    )
    profile_server: int | None = None  # port on which the program can be profiled while it runs
    # call functions with examples in place of running the program: `file` (None: annotations alone), `dims` {name: size}
    examples: dict[str, Any] | None = None
    relocated: list[str] | None = None  # [original, copy] of the project when this runs in a scratch copy
    optimise: bool = True
    artefacts: str | None = (
        None  # folder in which functions and candidates are left for the processes that measure them
    )
    measure: bool = False  # measure what such a folder holds; runs no program
    serve: str | None = (
        None  # target: once the program is over, measure the candidates of the function of `only` in this process
    )
    run_folder: str | None = None  # of temporary files; goes with a worker whose command line was killed
    # one whole run without the capture: `observe` [[path, qualname]], `preload` [module], `record` and `references` (folders)
    trial: dict[str, Any] | None = None

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read a job. Raises ValueError when it was written by another version."""
        values = json.loads(text)
        known = {entry.name for entry in dataclasses.fields(cls)}
        if not isinstance(values, dict) or not set(values) <= known:
            raise ValueError("the job was written by another version of jaxlint")
        return cls(**values)


def to_plain(value: Any) -> Any:
    """Records, enums, paths and NumPy scalars as what JSON knows; infinities and NaN become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {entry.name: to_plain(getattr(value, entry.name)) for entry in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return to_plain(value.value)
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        return to_plain(item())
    return str(value)


def encode(message: Any) -> bytes:
    """One line."""
    return json.dumps(to_plain(message), separators=(",", ":")).encode() + b"\n"


class Channel:
    """The worker's end. Only the process that made it speaks: forked children are mute."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read = _move_up(read_fd)
        self._write = _move_up(write_fd)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._rest = b""

    def send(self, event: str, **values: Any) -> None:
        """Write one event. A reader that has gone ends this process: nobody is left to work for."""
        if os.getpid() != self._process:
            return
        data = encode({"event": event, **values})
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._write, data) :]
            except OSError as error:
                if error.errno == errno.EPIPE:
                    os._exit(1)
                raise

    def receive(self) -> str:
        """Wait for the next line. Raises EOFError when the other side has gone."""
        while b"\n" not in self._rest:
            chunk = os.read(self._read, 65536)
            if not chunk:
                raise EOFError("the command line has gone")
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


def _move_up(fd: int) -> int:
    """The same descriptor under a high number, closed in programs that this process starts."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(fd)
    return high
