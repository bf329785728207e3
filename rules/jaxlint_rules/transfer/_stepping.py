"""The loop that a host sync delays: its iterations call compiled functions, here or in a caller."""

from __future__ import annotations

import ast

from jaxlint.api import Event, Frame, Loop
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint_rules.transfer._every_n import is_asked_last, is_skipped

_NEAR = 2  # calls between a loop and the host sync


def stepping_loop(frame: Frame) -> Loop | None:
    """The innermost loop of the frame, if its own iterations call a jitted function; a loop over the results of a step
    is a part of its iteration."""
    for loop in reversed(frame.loops):
        if loop.calls_jitted:
            return loop
        if not goes_through_results(loop):
            return None
    return None


def loop_of_callers(event: Event) -> Loop | None:
    """The loop that calls the enclosing function, directly or not, in every iteration."""
    frame: Frame = event.frame
    for _ in range(_NEAR):
        function, caller = frame.function, frame.caller
        if function is None or caller is None or frame.is_conditional() or _may_leave(function.node):
            return None
        if not all(map(goes_through_results, frame.loops)):
            return None
        loop = stepping_loop(caller)
        if loop is not None:
            call = frame.call_node
            asked = call is not None and (
                is_asked_last(call, caller.module) or is_skipped(call, loop.node, caller.module)
            )
            return None if asked or caller.is_conditional_in(loop) else loop
        frame = caller
    return None


def goes_through_results(loop: Loop) -> bool:
    """A comprehension, `for name, value in metrics.items()`, or `for each in callbacks: each.on_step_end(metrics)`: all results of one
    step, or all who get them."""
    if loop.kind == "comprehension":
        return True
    iterable = getattr(loop.node, "iter", None)
    if loop.calls_jitted or iterable is None:
        return False
    if _tells_each(loop.node):
        return True
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Attribute):
        return iterable.func.attr in ("items", "values") or (
            iterable.func.attr == "keys" and _reads_by_name(loop.node)
        )
    return isinstance(iterable, ast.Name) and _reads_by_name(loop.node)


@cache
def _tells_each(loop: ast.AST) -> bool:
    """Whether each iteration only calls methods of its item, with something given: `callback.on_batch_end(step, logs)`."""
    target, body = getattr(loop, "target", None), getattr(loop, "body", [])
    calls = [one.value for one in body if isinstance(one, ast.Expr)]
    return (
        isinstance(target, ast.Name)
        and len(calls) == len(body) > 0
        and all(
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == target.id
            and bool(call.args or call.keywords)
            for call in calls
        )
    )


@cache
def _reads_by_name(loop: ast.AST) -> bool:
    """Whether each iteration adds one of several results, which it finds by its name: `totals[k] += float(metrics[k])`."""
    target, body = getattr(loop, "target", None), getattr(loop, "body", [])
    if not isinstance(target, ast.Name) or len(body) != 1:
        return False
    read = {
        dotted(part.value)
        for part in nodes_of(body[0], ast.Subscript)
        if isinstance(part.slice, ast.Name) and part.slice.id == target.id
    }
    return len(read - {""}) > 1


@cache
def _may_leave(function: ast.AST) -> bool:
    """Whether a function may return early: called in every iteration, it may act in few."""
    body = getattr(function, "body", [])
    last = body[-1] if isinstance(body, list) and body else None
    leaves = [*nodes_of(function, ast.Return), *nodes_of(function, ast.Raise), *nodes_of(function, ast.Yield)]
    return any(leave is not last for leave in leaves)
