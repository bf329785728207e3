"""Decides when a run has shown enough: the wanted calls of the main function, and no sign that the main work is still
to come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxlint_runtime.capture.recorder import FunctionRecord

_PATIENCE = 10  # times the wanted calls that other functions have to be called at all, if the number is exact
_SETTLED = 2.0  # seconds without a new function after which a training run counts as settled
_WAITING = 30.0  # the same, while nothing trains or a jitted function was not called
_PERIODS = 3.0  # times its usual interval after which a function that is not called again is finished
_SHARE = 0.5  # share of the time limit for such waiting


def exact(records: Iterable[FunctionRecord], record: FunctionRecord, calls: int) -> str | None:
    """Why to stop after `calls` calls of any function, once all were called or one had ten times as many."""
    idle = _idle(records)
    if idle and record.calls < calls * _PATIENCE:
        return None
    return _told(record, idle)


def settled(
    records: Iterable[FunctionRecord],
    calls: int,
    run_for: float | None,
    now: float,
    started: float | None = None,
) -> str | None:
    """Why to stop now, or None: a program may sample, evaluate or act before it trains, or after that.

    The function that takes the most time must have its calls, and no new function may have appeared for a while. The
    wait is short if a function with its calls receives arrays that it returned, as a training step does; otherwise it
    is longer, within half of `run_for`. `started`: when the run began, if functions that the host runs were not called
    yet; the wait is then as long as everything new took to appear. Times in seconds, by time.perf_counter.
    """
    called = [record for record in records if record.calls]
    heaviest = max(called, key=lambda record: record.weight if _still_runs(record, now) else -1.0)
    if heaviest.calls < calls:
        return None
    idle = _idle(records)
    training = any(record.updates and record.calls >= calls for record in called)
    longest = _WAITING if run_for is None else min(_WAITING, _SHARE * run_for)
    newest = max(record.first_end for record in called)
    patience = longest
    if training and not idle:
        patience = _SETTLED if started is None else max(_SETTLED, min(longest, newest - started))
    if now - newest < patience:
        return None
    return _told(heaviest, idle) + ("" if training else "; no function seems to train")


def _still_runs(record: FunctionRecord, now: float) -> bool:
    """Whether it was called recently; earlier phases of the program are no reason to wait."""
    return now - record.last_end < max(_SETTLED, _PERIODS * record.weight / record.calls)


def _idle(records: Iterable[FunctionRecord]) -> list[FunctionRecord]:
    return [record for record in records if not record.calls and not record.inner_calls]


def _told(record: FunctionRecord, idle: list[FunctionRecord]) -> str:
    never = f"; {_names(idle)} {'was' if len(idle) == 1 else 'were'} never called" if idle else ""
    calls = "1 call" if record.calls == 1 else f"{record.calls} calls"
    return f"after {calls} of {record.identity.qualname}{never}"


def _names(records: list[FunctionRecord]) -> str:
    names = [record.identity.qualname for record in records[:3]]
    return ", ".join(names) + (" ..." if len(records) > 3 else "")
