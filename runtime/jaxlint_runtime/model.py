"""The records that the runtime's rooms hand to each other. Nothing here computes.

Times are seconds where the name ends in `_s` and milliseconds where it ends in `_ms`; sizes are bytes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Status(enum.StrEnum):
    """What became of one candidate."""

    VERIFIED = "verified"  # values and the gain were measured by running
    COMPILED = "compiled"  # values checked, the gain read from a compiler without the device
    REJECTED = "rejected"  # it ran, and it is not better or not the same
    FAILED = "failed"  # it could not be staged, compiled or run
    NOT_APPLICABLE = "not-applicable"


@dataclass(slots=True)
class JitOptions:
    """The options that the user's `jax.jit` was given, normalised to tuples."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    others: dict[str, Any] = field(default_factory=dict)  # in_shardings, device ...: passed on unchanged


@dataclass(slots=True)
class CapturedCall:
    """One real call: arguments with array leaves copied to the host (numpy), everything else by reference.

    `avals` mirrors `(args, kwargs)` with a `jax.ShapeDtypeStruct` (weak type and sharding kept) for each array leaf.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    avals: Any


@dataclass(slots=True)
class Compile:
    """One trace-and-compile of a function, and what was new about its arguments."""

    seconds_trace: float
    seconds_compile: float
    cause: str
    seconds_lower: float = 0.0


@dataclass(slots=True)
class CapturedFunction:
    """A function that the user's program jitted (or that check flagged) and how the run used it.

    `function` is the plain Python function, `jitted` the live wrapper (None when it was not jitted). `path` and
    `line` are those of the `def` (its first decorator, as `co_firstlineno` gives it) or of the lambda.
    """

    qualname: str
    path: str
    line: int
    function: Callable[..., Any]
    jitted: Any
    options: JitOptions
    call: CapturedCall | None = None
    calls: int = 0
    seconds: float = 0.0  # wall time in calls that did not compile, dispatch only unless synced
    compiles: list[Compile] = field(default_factory=list)
    refused: str | None = None  # why no call could be kept (byte budget, unpicklable, ...)
    # Of check, as JSON, inside this function or at its jit.
    findings: list[dict[str, Any]] = field(default_factory=list)
    call_number: int = 0  # which call `call` was, counted from 1
    inner_calls: int = 0  # calls under another transformation: traced, not run
    # arguments whose arrays were results of the call before, as the run showed it; None: it did not show
    rebound: tuple[int | str, ...] | None = None
    # parameters, by position and by name, whose arrays no caller can read after the call (see `jaxlint.codemods.dead_arguments`)
    dead_arguments: tuple[int | str, ...] = ()
    # whether an array was passed to two calls on end, as parameters that are not rebound are
    reused: bool = False
    wrappers: int = 1  # how often the program passed it to `jax.jit`
    warm_ms: list[float] = field(default_factory=list)  # calls without a compile, waited for to the end
    # From the start of one call to that of the next, sampled.
    period_ms: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Interval:
    """A median with a bootstrap confidence interval."""

    median: float
    low: float
    high: float
    level: float = 0.95


@dataclass(slots=True)
class Cost:
    """What a version of a function costs; None where the backend does not say."""

    time_ms: Interval | None = None
    time_kind: str | None = None  # "measured", "compiler" or "roofline"
    compile_s: float | None = None
    peak_bytes: int | None = None
    temp_bytes: int | None = None
    flops: float | None = None
    bytes_accessed: float | None = None
    collective_bytes: float | None = None
    residual_bytes: int | None = None  # liveness estimate over the jaxpr
    fits: bool | None = (
        None  # False: the compiler refused it, and `peak_bytes` is the least that it would need
    )


@dataclass(slots=True)
class Numerics:
    """How far the candidate's outputs and gradients are from the original's."""

    max_abs: float
    max_rel: float
    gradient_cosine: float | None
    tolerance: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate as the search sees it."""

    name: str  # "remat:dots_saveable"
    transform: str
    bits: bool  # it must not change a single bit
    estimate: float  # bytes that it is thought to save


@dataclass(slots=True)
class Result:
    """One candidate for one function, with the figures for and against it."""

    function: str
    path: str
    line: int
    code: str | None  # the rule whose claim this proves
    candidate: str  # "donation", "remat:dots_saveable", "bf16" ...
    status: Status
    evidence: str  # where values were checked and where figures come from
    reason: str
    before: Cost | None = None
    after: Cost | None = None
    speedup: Interval | None = None
    numerics: Numerics | None = None
    codemod: str | None = None  # codemod that would write it to the source
    parameters: dict[str, Any] = field(default_factory=dict)
    pairs_ms: tuple[
        tuple[float, float], ...
    ] = ()  # measured milliseconds a call, before and after, block by block
    base: str = ""  # the candidates that before and after both have
    # Of whole programs in fresh processes, in so many pairs of runs: "memory", "compile" and "total", how many times less.
    ratios: dict[str, Interval] = field(default_factory=dict)
    pairs: int = 0
