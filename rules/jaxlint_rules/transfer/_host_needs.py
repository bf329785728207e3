"""Whether the host itself needs what a loop waits for: an object of the host takes it, and gives what the next step works on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Frame
from jaxlint.api.syntax import dotted, walk
from jaxlint.api.values import Array, DictValue, External, ListValue, TupleValue
from jaxlint_rules._names import last_name, names_in, passed
from jaxlint_rules._slices import calls_in, has, made_of, needed_for

_CLOCKS = frozenset(
    {"time", "perf_counter", "monotonic", "perf_counter_ns", "time_ns", "process_time", "now", "timer"}
)


def feeds_back(node: ast.AST, loop: ast.AST, frame: Frame) -> bool:
    """Whether an object takes the value of `node` by a method, and another method gives what that value is computed from.

    So do environments (`step`), replay buffers (`sample`, `update_priorities`) and evolution strategies (`ask`, `tell`): the next
    iteration has to wait, whatever the value is kept in. Who gives the value itself, as `trainer.step(batch)`, does not count.
    """
    steps = [made for _, made in needed_for(names_in(node), loop)][1:]
    givers = {receiver for made in steps for value in made for receiver, _ in _method_calls(value, frame)}
    if not givers:
        return False
    names = made_of(node, loop)
    return any(
        receiver in givers and any(has(argument, node, names) for argument in passed(taker))
        for call in calls_in(loop)
        for receiver, taker in _method_calls(call, frame)
        if taker is call
    )


def _method_calls(value: ast.AST, frame: Frame) -> Iterator[tuple[str, ast.Call]]:
    """The calls of methods in an expression, with the object: no module, array or container, and not `self`."""
    for call in walk(value):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        receiver = dotted(call.func.value)
        root = receiver.partition(".")[0]
        if not receiver or receiver in ("self", "cls"):
            continue
        held = frame.value_of(root)
        if isinstance(held, External) or (
            root == receiver and isinstance(held, Array | ListValue | DictValue | TupleValue)
        ):
            continue
        yield receiver, call


def reads_clock(node: ast.AST) -> bool:
    """Whether a node is a call of a clock."""
    return isinstance(node, ast.Call) and last_name(node.func) in _CLOCKS


def is_timed(node: ast.AST, loop: ast.AST) -> bool:
    """Whether an iteration that reads a clock waits for the value anyway, or waits for it between two readings.

    Without the wait, it would measure nothing.
    """
    calls = list(calls_in(loop))
    clocks = [_place(call) for call in calls if reads_clock(call)]
    if not clocks:
        return False
    waited = [
        call
        for call in calls
        if last_name(call.func) == "block_until_ready" and names_in(call) & names_in(node)
    ]
    return min(clocks) < _place(node) < max(clocks) or any(_place(call) < _place(node) for call in waited)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
