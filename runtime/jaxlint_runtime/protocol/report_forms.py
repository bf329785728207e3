"""The JSON objects of a report, key by key: workers send them, and every report format reads them.

Times are seconds where the name ends in `_s` and milliseconds where it ends in `_ms`; sizes are bytes. Objects with a
record in `model.py` have the same names here.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class IntervalJson(TypedDict):
    """A median with its confidence interval."""

    median: float
    low: float
    high: float
    level: float


class CostJson(TypedDict, total=False):
    """The cost of a version of a function (`model.Cost`)."""

    time_ms: IntervalJson | None
    time_kind: str | None
    compile_s: float | None
    peak_bytes: int | None
    temp_bytes: int | None
    flops: float | None
    bytes_accessed: float | None
    collective_bytes: float | None
    residual_bytes: int | None
    fits: bool | None


class NumericsJson(TypedDict):
    """The distance of values from those of the original (`model.Numerics`)."""

    max_abs: float | None
    max_rel: float | None
    gradient_cosine: float | None
    tolerance: float
    passed: bool


class ResultJson(TypedDict):
    """One candidate for one function, with its figures (`model.Result`)."""

    function: str
    path: str
    line: int
    code: str | None
    candidate: str
    status: str
    evidence: str
    reason: str
    before: CostJson | None
    after: CostJson | None
    speedup: IntervalJson | None
    numerics: NumericsJson | None
    codemod: str | None
    parameters: dict[str, Any]  # of the codemod
    pairs_ms: list[list[float]]
    base: str
    ratios: dict[str, IntervalJson]
    pairs: int
    earlier: NotRequired[str]
    gain: NotRequired[dict[str, Any]]  # in words, once the report is written


class CompileJson(TypedDict):
    """One compile; figures are None if the program did not end."""

    trace_s: float | None
    lower_s: float | None
    compile_s: float | None
    cause: str


class FindingJson(TypedDict):
    """A finding of check, as shown beside a function."""

    path: str
    line: int
    code: str
    name: str
    severity: str
    message: str


class FunctionJson(TypedDict):
    """A function that the program jits, and how the run used it."""

    function: str
    path: str
    line: int
    end_line: int
    jit_path: str | None
    jit_line: int | None
    options: dict[str, Any]
    calls: int
    inner_calls: int
    wrappers: int | None
    seconds: float | None
    weight_seconds: float | None
    call_ms: float | None
    call_ms_low: NotRequired[float | None]
    call_ms_high: NotRequired[float | None]
    period_ms: float | None
    captured_call: int | None
    captured_bytes: int
    refused: str | None
    rebound: Any
    constants: list[dict[str, Any]]  # large captured arrays
    growing: list[dict[str, Any]]  # arguments that grow from compile to compile
    padding: NotRequired[dict[str, Any] | None]  # how arguments of other lengths may be padded, or why not
    ends: NotRequired[dict[str, Any] | None]  # how an argument that grows may be padded behind its end
    numbers: NotRequired[
        list[dict[str, Any]]
    ]  # static arguments whose real numbers differed between compiles
    weak: NotRequired[dict[str, Any] | None]  # arrays that it first received weakly typed, and the calls
    compiles: list[CompileJson]
    findings: NotRequired[list[FindingJson]]


class FlaggedJson(TypedDict):
    """A function with findings that the program does not jit. Values are None if it was not counted, for the reason
    `uncounted`."""

    function: str
    path: str
    line: int
    end_line: int
    calls: int | None  # run by the host
    inner_calls: int | None  # traced
    seconds: float | None  # host time, callees included
    call_ms: float | None
    uncounted: str | None
    described_call: int | None  # the call of `arguments`
    arguments: list[dict[str, Any]] | None  # `name`, `type` and either `value` or `structure` and `leaves`
    variables: NotRequired[Any]  # their values, for the search of edits
    weak: NotRequired[dict[str, Any] | None]  # arrays that it first received weakly typed
    lengths: NotRequired[dict[str, int]]  # how often its loops ran, by what they run over
    callers: NotRequired[
        list[list[str]]
    ]  # path and name of the watched functions that it ran in, "" outside of all
    findings: NotRequired[list[FindingJson]]


class SyncJson(TypedDict):
    """A line with host syncs."""

    path: str
    line: int
    kind: str
    count: int
    seconds: float
    per_step: float | None
    findings: NotRequired[list[FindingJson]]


class DiffJson(TypedDict):
    """The edit for a proven result; `note` says why not if `diff` is empty."""

    function: str | None
    path: str | None
    line: int | None
    candidate: str
    diff: str
    note: str


class AppliedJson(TypedDict):
    """The outcome of a proven result under `--apply`."""

    function: str
    path: str
    line: int
    candidate: str
    kept: bool
    message: str


def peak_of(cost: CostJson | None) -> int | None:
    """The peak bytes of a version, if known."""
    return None if cost is None else cost.get("peak_bytes")


def before_and_after(result: ResultJson, name: str) -> tuple[Any, Any]:
    """A figure of the costs before and after, by its name in `CostJson`; None if unknown."""
    before, after = result["before"] or {}, result["after"] or {}
    return before.get(name), after.get(name)
