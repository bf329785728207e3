"""Whether the host itself needs what a loop waits for: an object of the host takes it, and gives what the next step works on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Frame
from jaxlint.api.syntax import cache, dotted, walk
from jaxlint.api.values import Array, DictValue, External, ListValue, TupleValue
from jaxlint_rules._names import names_in, passed

_CLOCKS = frozenset(
    {"time", "perf_counter", "monotonic", "perf_counter_ns", "time_ns", "process_time", "now", "timer"}
)
_OBJECTS = frozenset({"self", "cls"})
_GROWS = frozenset({"append", "extend", "add", "insert"})  # a container takes what it is given


def feeds_back(node: ast.AST, loop: ast.AST, frame: Frame) -> bool:
    """Whether an object takes the value of `node` by a method, and another method gives what that value is computed from.

    So do environments (`step`), replay buffers (`sample`, `update_priorities`) and evolution strategies (`ask`, `tell`): the next
    iteration has to wait, whatever the value is kept in. Who gives the value itself, as `trainer.step(batch)`, does not count.
    """
    assignments = _assignments(loop)
    givers: set[str] = set()
    needed = names_in(node)
    for depth in range(len(assignments) + 1):
        made = [value for targets, value in assignments if targets & needed]
        if depth:
            givers |= {receiver for value in made for receiver, _ in _method_calls(value, frame)}
        known = len(needed)
        needed = needed.union(*map(names_in, made))
        if depth and len(needed) == known:
            break
    return bool(givers & _takers(node, loop, frame))


def _takers(node: ast.AST, loop: ast.AST, frame: Frame) -> set[str]:
    """The objects of whose methods one is called with the value of `node`, or with what is made of it."""
    made_of_it: set[str] = set()
    statements = getattr(loop, "body", [])
    takers: set[str] = set()
    while True:
        before = len(made_of_it)
        for targets, value in _assignments(loop):
            if _has(value, node, made_of_it):
                made_of_it |= targets
        for statement in statements:
            for call in (part for part in walk(statement) if isinstance(part, ast.Call)):
                if not isinstance(call.func, ast.Attribute):
                    continue
                if not any(_has(argument, node, made_of_it) for argument in passed(call)):
                    continue
                if call.func.attr in _GROWS and isinstance(call.func.value, ast.Name):
                    made_of_it.add(call.func.value.id)
                takers |= {receiver for receiver, one in _method_calls(call, frame) if one is call}
        if len(made_of_it) == before:
            return takers


def _has(value: ast.AST, node: ast.AST, names: set[str]) -> bool:
    return any(part is node or (isinstance(part, ast.Name) and part.id in names) for part in walk(value))


def _method_calls(value: ast.AST, frame: Frame) -> Iterator[tuple[str, ast.Call]]:
    """The calls of methods in an expression, with the object: no module, array or container, and not `self`."""
    for call in walk(value):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        receiver = dotted(call.func.value)
        root = receiver.partition(".")[0]
        if not receiver or receiver in _OBJECTS:
            continue
        held = frame.value_of(root)
        if isinstance(held, External) or (
            root == receiver and isinstance(held, Array | ListValue | DictValue | TupleValue)
        ):
            continue
        yield receiver, call


@cache
def _assignments(loop: ast.AST) -> tuple[tuple[frozenset[str], ast.AST], ...]:
    """What the body of a loop binds to names, and to what; inner loops bind theirs to what they go through."""
    found: list[tuple[frozenset[str], ast.AST]] = []
    for statement in getattr(loop, "body", []):
        for part in walk(statement):
            if isinstance(part, ast.Assign):
                names = set[str]().union(*map(names_in, part.targets))
                found.append((frozenset(names - _OBJECTS), part.value))
            elif isinstance(part, ast.AnnAssign | ast.AugAssign) and part.value is not None:
                found.append((frozenset(names_in(part.target) - _OBJECTS), part.value))
            elif isinstance(part, ast.For | ast.comprehension):
                found.append((frozenset(names_in(part.target) - _OBJECTS), part.iter))
    return tuple(found)


def reads_clock(node: ast.AST) -> bool:
    """Whether a node is a call of a clock."""
    return isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _CLOCKS


def is_timed(node: ast.AST, loop: ast.AST) -> bool:
    """Whether an iteration reads a clock before the value is waited for and again after it: without the wait, it would measure nothing."""
    inside = [part for statement in getattr(loop, "body", []) for part in walk(statement)]
    clocks = [_place(part) for part in inside if reads_clock(part)]
    return bool(clocks) and min(clocks) < _place(node) < max(clocks)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
