"""What a worker says: one event a line.

`Plain` stands for what goes into the report as it is, in the form that the report documents (`report.document`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jaxlint_runtime.model import Cost, Numerics, Proposed, Result
from jaxlint_runtime.protocol.json_records import Message, Plain, one_of
from jaxlint_runtime.protocol.report_forms import FlaggedJson, FunctionJson, SyncJson


@dataclass(frozen=True, slots=True)
class Hello(Message):
    """It is up."""

    pid: int
    python: str = ""


@dataclass(frozen=True, slots=True)
class Note(Message):
    """A line for the reader."""

    message: str


@dataclass(frozen=True, slots=True)
class Progress(Message):
    """The same, soon outdated."""

    message: str


@dataclass(frozen=True, slots=True)
class Error(Message):
    """It cannot go on."""

    message: str


@dataclass(frozen=True, slots=True)
class Done(Message):
    """Nothing more comes."""


# ---- the program runs ----


@dataclass(frozen=True, slots=True)
class Busy:
    """How often a jitted function was called up to now."""

    function: str
    path: str
    line: int
    calls: int
    inner_calls: int
    compiles: int


@dataclass(frozen=True, slots=True)
class Watch(Message):
    """How far the program is; the busiest functions first."""

    functions: list[Busy]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How the program ended: `how` is "finished", "stopped" or "raised"; its exit status; the same in words."""

    how: str
    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Captured(Message):
    """The program is over: everything that was seen (`capture.session`)."""

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


@dataclass(frozen=True, slots=True)
class Compared:
    """The values of a run against those of the references: the worst of them in `problem` and `numerics`.

    `apart`: how far runs of the original are from each other, where that is more than the dtype explains.
    """

    calls: int = 0
    values: int = 0
    problem: str | None = None
    numerics: Numerics | None = None
    apart: float = 0.0

    @property
    def moved(self) -> float | None:
        """How far a value is from its reference at most; None where none was compared, or no number says it."""
        far = None if self.numerics is None else self.numerics.max_rel
        return far if far is not None and math.isfinite(far) else None


@dataclass(frozen=True, slots=True)
class Ran(Message):
    """One whole run of a version is over (`capture.trial_run`). `compared`: its values, where there are references."""

    ending: Ended
    run_s: float
    compile_s: float
    cpu_s: float
    compiles: int
    peak_bytes: int | None
    cut: tuple[str, str, int] | None  # path, function and number of the call at whose end it was cut off
    functions: list[Plain]
    threads: int
    compared: Compared | None
    outside: list[tuple[str, int]] = field(
        default_factory=list
    )  # files written elsewhere, and from which byte on
    gone: list[str] = field(default_factory=list)  # files deleted elsewhere


# ---- functions and their candidates ----


@dataclass(frozen=True, slots=True)
class OfFunction:
    """A function and the target that it is looked at for."""

    function: str
    path: str
    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Optimising(OfFunction, Message):
    """Its candidates begin."""


@dataclass(frozen=True, slots=True)
class Optimised(OfFunction, Message):
    """They are through."""


@dataclass(frozen=True, slots=True)
class Left(OfFunction, Message):
    """The function and its candidates lie in `folder` for the processes that measure them (`exported.exporting`).

    `environment` is what the program had set for JAX; `proposed` has the candidates of each transformation, or why there are none;
    `together` those that were left as one; `unexported` why which of them could not be left, `refused` why nothing could.
    """

    folder: str
    environment: dict[str, str]
    proposed: dict[str, list[Proposed] | Result] = field(default_factory=dict)
    together: list[list[str]] = field(default_factory=list)
    unexported: dict[str, str] = field(default_factory=dict)
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Ready(Message):
    """A process that measures is ready for a function: it took `seconds`, and has `results` on it as it is.

    `cost` is None where the function cannot be measured. `proposed` where it was captured in the same process.
    """

    seconds: float = 0.0
    cost: Cost | None = None
    results: list[Result] = field(default_factory=list)
    proposed: dict[str, list[Proposed] | Result] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proven(Message):
    """What became of the candidates that were to be proven."""

    result: Result


@dataclass(frozen=True, slots=True)
class Decided(Message):
    """A result on a function."""

    target: str
    result: Result


@dataclass(frozen=True, slots=True)
class Sharding(Message):
    """How to split the inputs of a function over a mesh (`sharding.placement_record`)."""

    target: str
    sharding: Plain


@dataclass(frozen=True, slots=True)
class Constants(Message):
    """Large arrays that a function captures."""

    path: str
    line: int
    constants: list[Plain]


@dataclass(frozen=True, slots=True)
class Inspected(Message):
    """What one version of a function does (`inspection.overview`)."""

    function: str
    path: str
    line: int
    target: str
    version: str
    overview: Plain


@dataclass(frozen=True, slots=True)
class Peaks(Message):
    """What a target can do at most (`inspection.device_peaks`)."""

    target: str
    peaks: Plain


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
)
_KINDS: tuple[Any, ...] = Event.__args__


def read_event(plain: Mapping[str, Any]) -> Event:
    """The event of a line. Raises ValueError."""
    found: Event = one_of(_KINDS, plain)
    return found
