"""The costs beside the jitted functions, one line each, with advice: for programs that no edit made faster."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint_runtime.protocol.report_forms import FunctionJson
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.wording.function_names import short_name
from jaxlint_runtime.wording.paths import display_path
from jaxlint_runtime.wording.units import milliseconds

_MOST = 2  # lines
_LEAST_CALLS = 20
_LEAST_SHARE = 0.03  # of the run, which ends soon after it has shown enough
_OF_A_TURN = 0.5  # share of an iteration that passes between calls
_COMPILING = 0.15  # share of the run in which eager operations compile
_SHORT_MS = 0.3  # a call that takes less is mostly the start of a program
_MANY = 100


def time_outside(document: Document) -> list[str]:
    """The lines, the largest cost first."""
    found = sorted([*_between(document), *_eager(document), *_short(document)], reverse=True)
    return [line for _, line in found[:_MOST]]


def _between(document: Document) -> Iterator[tuple[float, str]]:
    """The function between whose calls the host spends the most time."""
    known = [(one["calls"] * _gap(one) / 1e3, one) for one in _repeated(document)]
    spent, function = max(known, key=lambda pair: pair[0], default=(0.0, None))
    if function is None or spent < _LEAST_SHARE * document.seconds:
        return
    gap, period = _gap(function), function.get("period_ms") or 0.0
    if gap < _OF_A_TURN * period:
        return
    name = short_name(function["function"])
    yield (
        spent,
        f"{name}: {milliseconds(gap)} of every {milliseconds(period)} pass between its calls{_loop(document, function)}: "
        f"compute that in {name}, or in another jitted function.",
    )


def _eager(document: Document) -> Iterator[tuple[float, str]]:
    """The operations that are compiled one by one."""
    seconds, count = document.eager.get("seconds") or 0.0, document.eager.get("compiles")
    if not count or seconds < _COMPILING * document.seconds:
        return
    calls = document.eager.get("calls", ())
    most = max(calls, key=lambda one: one["seconds"], default=None)
    said = f"{seconds:.1f} s went into compiling {count} operations one by one"
    if most is None:
        yield seconds, f"{said}: put the code that runs them under jax.jit."
        return
    where = f"most of them at {display_path(most['path'])}:{most['line']}"
    yield seconds, f"{said}, {where}: put what that line calls under jax.jit."


def _short(document: Document) -> Iterator[tuple[float, str]]:
    """The function whose calls are so short that their dispatch dominates."""
    for one in _repeated(document):
        call = one.get("call_ms") or 0.0
        spent = one["calls"] * (call + _gap(one)) / 1e3
        if one["calls"] < _MANY or not 0 < call < _SHORT_MS or _gap(one) > call or not one.get("rebound"):
            continue
        if spent >= _LEAST_SHARE * document.seconds:
            yield (
                spent,
                f"{short_name(one['function'])} takes {milliseconds(call)} a call, so its dispatch counts: "
                f"run several steps in one jax.lax.scan{_loop(document, one)}.",
            )
            return


def _gap(function: FunctionJson) -> float:
    """Milliseconds from the end of a call to the start of the next one: calls are timed until they finish,
    and a period runs from start to start.
    """
    return max((function.get("period_ms") or 0.0) - (function.get("call_ms") or 0.0), 0.0)


def _repeated(document: Document) -> list[FunctionJson]:
    return [one for one in document.functions if (one.get("calls") or 0) >= _LEAST_CALLS]


def _loop(document: Document, function: FunctionJson) -> str:
    """The place of the loop that calls a function, if it is known."""
    place = document.loops.get(function["function"].rpartition(".")[2])
    return "" if place is None else f", in the loop at {display_path(place[0])}:{place[1]}"
