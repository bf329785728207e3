"""Whether the host itself needs the awaited value: an object of the host consumes it and produces the next step's
input."""

from __future__ import annotations

import ast

from jaxlint.api import ConvertEvent, Event, Frame
from jaxlint.api.syntax import dotted, names_stored, nodes_of, walk
from jaxlint.api.values import Array, DictValue, External, ListValue, TupleValue
from jaxlint_rules._names import bound_by, last_name, names_in, passed
from jaxlint_rules._periods import is_periodic
from jaxlint_rules._purpose import is_commented
from jaxlint_rules._slices import OBJECTS, calls_in, has, made_of, needed_for

_CLOCKS = frozenset(
    {"time", "perf_counter", "monotonic", "perf_counter_ns", "time_ns", "process_time", "now", "timer"}
)


def feeds_back(node: ast.AST, loop: ast.AST, frame: Frame) -> bool:
    """Whether an object consumes `node` by a method, and another of its methods produces the input of that value.

    Environments (`step`), replay buffers (`sample`, `update_priorities`) and evolution strategies (`ask`, `tell`) do
    so: the next iteration must wait in any case. An object that produces the value itself, as in
    `trainer.step(batch)`, does not count.
    """
    steps = [made for _, made in needed_for(names_in(node), loop)][1:]
    calls = (call for made in steps for value in made for call in walk(value) if isinstance(call, ast.Call))
    givers = {_owner(call, frame) for call in calls} - {""}
    if not givers:
        return False
    names = made_of(node, loop)
    return any(
        _owner(call, frame) in givers and any(has(argument, node, names) for argument in passed(call))
        for call in calls_in(loop)
    )


def searches(node: ast.AST, loop: ast.AST) -> bool:
    """Whether the value decides that the loop has found its result, and no iteration continues another: no
    work could run beside the wait.
    """
    if not isinstance(loop, ast.For) or _continues(loop):
        return False
    names = made_of(node, loop)
    return any(
        has(test.test, node, names) and isinstance(test.body[-1], (ast.Return, ast.Break))
        for test in walk(loop)
        if isinstance(test, ast.If)
    )


def _continues(loop: ast.For) -> bool:
    """Whether an assignment of the body reads a value from an earlier iteration."""
    stored, bound = names_stored(loop), names_in(loop.target)
    for statement in loop.body:
        if isinstance(statement, (ast.For, ast.While, ast.AugAssign)):
            return True
        if isinstance(statement, ast.Assign):
            if (names_in(statement.value) - bound) & stored:
                return True
            bound |= bound_by(statement)
    return False


def is_explained(event: Event) -> bool:
    """Whether the author waits on purpose: an assertion, or an explicit wait with a comment."""
    module, how = event.frame.module, event.how if isinstance(event, ConvertEvent) else ""
    return (how == "block_until_ready" and is_commented(event.node, module)) or any(
        isinstance(above, ast.Assert) for above in module.ancestors(event.node)
    )


def _owner(call: ast.Call, frame: Frame) -> str:
    """The receiver of a method call; "" for a module, an array, a container and `self`."""
    owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    root = owner.partition(".")[0]
    if not owner or owner in OBJECTS:
        return ""
    held = frame.value_of(root)
    plain = root == owner and isinstance(held, Array | ListValue | DictValue | TupleValue)
    return "" if plain or isinstance(held, External) else owner


def reads_clock(node: ast.AST) -> bool:
    """Whether a node is a call of a clock."""
    return isinstance(node, ast.Call) and last_name(node.func) in _CLOCKS


def is_timed(node: ast.AST, loop: ast.AST) -> bool:
    """Whether an iteration with a clock waits for the value anyway, or waits for it between two readings.

    Without the host sync it would measure nothing. Clocks under an option that the host sync is not under, as
    `if profile:`, do not run in each iteration.
    """
    elsewhere = {
        part
        for one in nodes_of(loop, ast.If)
        if not any(part is node for part in walk(one))
        for statement in (*one.body, *one.orelse)
        for part in walk(statement)
    }
    calls = [call for call in calls_in(loop) if call not in elsewhere]
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


def decides(node: ast.AST, loop: ast.AST) -> bool:
    """Whether Python decides by the value, or one computed from it, what the same iteration does: it keeps the best, or looks for
    NaN. The host sync cannot wait for the end then. Decisions that only leave the loop could be made on the device."""
    names = made_of(node, loop)
    tests = [
        part.test
        for statement in getattr(loop, "body", [])
        for part in walk(statement)
        if isinstance(part, (ast.If, ast.While, ast.IfExp))
        and not (isinstance(part, ast.If) and isinstance(part.body[-1], (ast.Break, ast.Return)))
    ]
    return any(has(test, node, names) for test in tests if not is_periodic(test))


def ends_loop(node: ast.AST, loop: ast.AST, frame: Frame) -> bool:
    """Whether Python decides by the value, here or once the functions between have returned it, when the loop ends: a tolerance
    that is reached, a token that ends the text."""
    while not any(one.node is loop for one in frame.loops):
        function, call = frame.function, frame.call_node
        if function is None or call is None or frame.caller is None or isinstance(function.node, ast.Lambda):
            return False
        names = made_of(node, function.node)
        if not any(
            one.value is not None and has(one.value, node, names)
            for one in nodes_of(function.node, ast.Return)
        ):
            return False
        node, frame = call, frame.caller
    names = made_of(node, loop)
    tests = [loop.test] if isinstance(loop, ast.While) else []
    tests += [
        part.test
        for statement in getattr(loop, "body", [])
        for part in walk(statement)
        if isinstance(part, ast.If) and isinstance(part.body[-1], (ast.Break, ast.Return))
    ]
    return any(has(test, node, names) for test in tests)


def begins_as_none(event: Event) -> bool:
    """Whether the tested value is a local variable that starts as None."""
    node, function = event.node, event.frame.function
    if not isinstance(node, ast.Name) or function is None:
        return False
    return any(
        isinstance(statement.value, ast.Constant) and statement.value.value is None
        for statement in nodes_of(function.node, ast.Assign)
        if any(dotted(target) == node.id for target in statement.targets)
    )
