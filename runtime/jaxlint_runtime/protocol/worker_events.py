"""The messages of a worker: one event a line.

`Plain` is part of the report as it is, in its documented form (`report.document`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.model import Cost, Numerics, Proposed, Result
from jaxlint_runtime.protocol.json_records import Message, Plain, one_of
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.protocol.report_forms import FlaggedJson, FunctionJson, SyncJson


@dataclass(frozen=True, slots=True)
class Hello(Message):
    """The worker is ready."""

    pid: int
    python: str = ""


@dataclass(frozen=True, slots=True)
class Note(Message):
    """A line for the reader."""

    message: str


@dataclass(frozen=True, slots=True)
class Progress(Message):
    """A line for the reader that is soon outdated."""

    message: str


@dataclass(frozen=True, slots=True)
class Error(Message):
    """The worker cannot continue. `refused`: nor could any other run of the program."""

    message: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Done(Message):
    """No more events follow."""


# ---- the program runs ----


@dataclass(frozen=True, slots=True)
class Busy:
    """The calls of a jitted function so far."""

    function: str
    path: str
    line: int
    calls: int
    inner_calls: int
    compiles: int


@dataclass(frozen=True, slots=True)
class Watch(Message):
    """The progress of the program; the busiest functions first."""

    functions: list[Busy]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the program: `how` is "finished", "stopped" or "raised"; its exit status; a description."""

    how: str
    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Captured(Message):
    """The program has ended: everything that was recorded (`capture.session`)."""

    ending: Ended
    seconds: float
    used_jax: bool
    device: str | None
    targets: list[str]
    versions: dict[str, str]
    functions: list[FunctionJson]
    flagged: list[FlaggedJson]
    eager: Plain
    step: str | None  # the busiest function
    syncs: list[SyncJson]
    files: list[str]
    problems: list[str]
    packages: str = ""  # the digest of the interpreter and the packages that it has
    cpu_s: float | None = None  # processor time of the program until here
    start_s: float = 0.0  # seconds until its first compile


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of a run's values with the references: the worst result in `problem` and `numerics`.

    `apart`: the distance between runs of the original, if it is more than the dtype explains.
    """

    calls: int = 0
    values: int = 0
    problem: str | None = None
    numerics: Numerics | None = None
    apart: float = 0.0

    @property
    def moved(self) -> float | None:
        """The largest distance of a value from its reference; None if none was compared, or it has no number."""
        far = None if self.numerics is None else self.numerics.max_rel
        return far if far is not None and math.isfinite(far) else None


@dataclass(frozen=True, slots=True)
class Ran(Message):
    """One whole run of a version has ended (`capture.trial_run`). `compared`: its values, if there are references."""

    ending: Ended
    run_s: float
    compile_s: float
    cpu_s: float
    compiles: int
    peak_bytes: int | None
    cut: tuple[str, str, int] | None  # where it was cut off (`capture.truncation`)
    functions: list[Plain]
    threads: int
    compared: Compared | None
    outside: list[tuple[str, int]] = field(
        default_factory=list
    )  # files written elsewhere, and from which byte on
    gone: list[str] = field(default_factory=list)  # files deleted elsewhere
    missed: list[Plain] = field(default_factory=list)  # by file: what code it did not reach
    frames: list[tuple[str, int]] = field(default_factory=list)  # where it raised, the innermost last


# ---- functions and their candidates ----


@dataclass(frozen=True, slots=True)
class OfFunction:
    """A function and a target."""

    function: str
    path: str
    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Optimising(OfFunction, Message):
    """Its candidates begin."""


@dataclass(frozen=True, slots=True)
class Optimised(OfFunction, Message):
    """Its candidates are done."""


@dataclass(frozen=True, slots=True)
class Left(OfFunction, Message):
    """The function and its candidates are in `folder` for the measuring processes (`exported.exporting`). `digest` is
    that of its record: no other is ever read.

    `environment` are the program's JAX settings. `proposed` has the candidates of each transformation, or why there
    are none; `together` the combinations that were exported; `unexported` why some could not be, `refused` why
    nothing could. `content` is the digest of all that a proof depends on, `places` lists the files and lines of the
    original in program order.
    """

    folder: str
    environment: dict[str, str]
    proposed: dict[str, list[Proposed] | Result] = field(default_factory=dict)
    together: list[list[str]] = field(default_factory=list)
    unexported: dict[str, str] = field(default_factory=dict)
    refused: str | None = None
    digest: str = ""
    content: str = ""
    places: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ready(Message):
    """A measuring process is ready for a function: it took `seconds`, and has `results` about the original.

    `cost` is None if the function cannot be measured. `proposed` is set if it was captured in the same process.
    """

    seconds: float = 0.0
    cost: Cost | None = None
    results: list[Result] = field(default_factory=list)
    proposed: dict[str, list[Proposed] | Result] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proven(Message):
    """The outcomes of the requested candidates."""

    result: Result


@dataclass(frozen=True, slots=True)
class Decided(Message):
    """A result about a function."""

    target: str
    result: Result


@dataclass(frozen=True, slots=True)
class Sharding(Message):
    """The best placement of a function's inputs on a mesh (`sharding.placement_record`)."""

    target: str
    sharding: Plain


@dataclass(frozen=True, slots=True)
class Constants(Message):
    """Large captured arrays of a function."""

    path: str
    line: int
    constants: list[Plain]


@dataclass(frozen=True, slots=True)
class Inspected(Message):
    """The description of one version of a function (`inspection.overview`)."""

    function: str
    path: str
    line: int
    target: str
    version: str
    overview: Plain


@dataclass(frozen=True, slots=True)
class Peaks(Message):
    """The peak figures of a target (`inspection.device_peaks`)."""

    target: str
    peaks: Plain


@dataclass(frozen=True, slots=True)
class Device(Message):
    """The kind of device that a function is compiled for and, if the device exists here, measured on."""

    kind: str


Event = (
    Hello
    | Note
    | Progress
    | Error
    | Done
    | Watch
    | Captured
    | Ran
    | Optimising
    | Optimised
    | Left
    | Ready
    | Proven
    | Decided
    | Sharding
    | Constants
    | Inspected
    | Peaks
    | Device
    | PlacementQuestion
    | PlacementAnswer
)
KINDS: tuple[Any, ...] = Event.__args__


def read_event(plain: Mapping[str, Any]) -> Event:
    """The event in a line. Raises ValueError."""
    found: Event = one_of(KINDS, plain)
    return found
