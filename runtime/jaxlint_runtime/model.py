"""The records that the parts of the runtime pass to each other. Nothing here computes.

Times are seconds where the name ends in `_s` and milliseconds where it ends in `_ms`; sizes are bytes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Status(enum.StrEnum):
    """The outcome of one candidate."""

    VERIFIED = "verified"  # values and the gain were measured by running
    COMPILED = "compiled"  # values were checked; a compiler without the device shows the gain
    REJECTED = "rejected"  # it ran, and is not better or not equivalent
    FAILED = "failed"  # it could not be traced, compiled or run
    NOT_APPLICABLE = "not-applicable"


@dataclass(slots=True)
class JitOptions:
    """The user's options of `jax.jit`, normalised to tuples."""

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
    """One compile of a function, and what was new about its arguments."""

    seconds_trace: float
    seconds_compile: float
    cause: str
    seconds_lower: float = 0.0


@dataclass(slots=True)
class CapturedFunction:
    """A function that the user's program jitted (or that check flagged), and how the run used it.

    `function` is the plain Python function, `jitted` the live wrapper (None if it was not jitted). `path` and `line`
    are those of the `def` (its first decorator, as `co_firstlineno` gives it) or of the lambda.
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
    refused: str | None = None  # why no call could be stored (byte budget, unpicklable, ...)
    # Findings of check, as JSON, inside this function or at its jit.
    findings: list[dict[str, Any]] = field(default_factory=list)
    call_number: int = 0  # the number of the call in `call`, from 1
    inner_calls: int = 0  # calls under another transformation: traced, not run
    # arguments that are results of the previous call, as the run showed it; None: it did not show
    rebound: tuple[int | str, ...] | None = None
    # parameters, by position and by name, whose arrays no caller can read after the call (see
    # `jaxlint.codemods.dead_arguments`)
    dead_arguments: tuple[int | str, ...] = ()
    # whether an array was passed to two consecutive calls, as parameters that are not rebound are
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
    """The cost of a version of a function; None for figures that the backend does not provide."""

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
    """A candidate in the search."""

    name: str  # "remat:dots_saveable"
    transform: str
    bits: bool  # it must not change a single bit
    estimate: float  # estimated savings in bytes


@dataclass(slots=True)
class Result:
    """One candidate for one function, with its figures."""

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
    codemod: str | None = None  # the codemod that would write it to the source
    parameters: dict[str, Any] = field(default_factory=dict)
    pairs_ms: tuple[
        tuple[float, float], ...
    ] = ()  # measured milliseconds a call, before and after, block by block
    base: str = ""  # the candidates that both versions have
    # For whole programs in fresh processes, over so many pairs of runs: "memory", "compile" and "total", how many
    # times less.
    ratios: dict[str, Interval] = field(default_factory=dict)
    pairs: int = 0
    earlier: str = ""  # the date of the run that found this, if it was an earlier one
