"""The loop that a host sync delays: its iterations call compiled functions, here or in a caller; and whether it reads what such a
call gives beside the state of the loop."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Event, Frame, Loop
from jaxlint.api.syntax import cache, dotted, nodes_of, walk
from jaxlint_rules._names import last_name, passed, unpacked
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


def comes_from_the_step(event: Event, loop: Loop) -> bool:
    """Whether what is read comes from a call that takes an iteration to the next: the loss of `state, loss = step(state, batch)`,
    or of `loss, grads = gradient(params)` where the gradient gives the new parameters. The device cannot begin the next step
    while Python reads it. What an evaluation or a diagnosis beside the step gives is read because it is wanted."""
    node, frame = event.node, event.frame
    read = _read(node)
    while True:
        own = loop in frame.loops
        within = (part for part in walk(node) if isinstance(part, ast.Call) and part is not node)
        given = _given_by_steps(loop.node if own else frame.owner)
        if read & given or any(_steps(one, set()) for one in within):
            return True
        if own or frame.caller is None or frame.call_node is None:
            return False
        node, frame = frame.call_node, frame.caller
        read = set[str]().union(*map(_read, passed(node))) if isinstance(node, ast.Call) else set()


@cache
def _given_by_steps(owner: ast.AST) -> frozenset[str]:
    """The variables that hold what such calls give, or parts and means of that."""
    assigned = [
        ({dotted(part) for target in one.targets for part in unpacked(target)} - {""}, one.value)
        for one in nodes_of(owner, ast.Assign)
    ]
    links = [(made, _read(value)) for made, value in assigned]
    parts = [link for link, (_, value) in zip(links, assigned, strict=True) if _takes_parts(value)]
    found: set[str] = set()
    for made, value in assigned:
        if not _takes_parts(value):
            after = _followed(made, links)  # what is computed from it, also in the next iteration
            if any(_steps(call, after) for call in walk(value) if isinstance(call, ast.Call)):
                found |= made
    return frozenset(_followed(found, parts))


def _steps(call: ast.Call, after: set[str]) -> bool:
    """Whether a call gets what is computed from its result, or changes its objects in place by its name, as those of nnx:
    `train_step(model, x)`."""
    called = last_name(call.func).lower()
    if called in _PARTS:
        return False
    if _STEPS_ON.search(called) is not None and _JUDGES.search(called) is None:
        return True
    given = set[str]().union(*map(_read, passed(call)))
    return any(not _KEYS.search(name.lower()) for name in given & after)


def _takes_parts(value: ast.expr) -> bool:
    """`metrics["loss"].mean()`: no more than a part or a mean of what a variable holds."""
    return all(last_name(part.func) in _PARTS for part in walk(value) if isinstance(part, ast.Call))


def _followed(names: set[str], links: list[tuple[set[str], set[str]]]) -> set[str]:
    """Names, and those that are computed from them by the assignments `links`, in whatever order."""
    found = set(names)
    while True:
        wider = found.union(*(made for made, read in links if read & found))
        if wider == found:
            return found
        found = wider


def _read(node: ast.AST) -> set[str]:
    """The variables and attributes that an expression reads: of `self.state.params` also `self.state`."""
    named = {dotted(part) for part in walk(node) if isinstance(part, ast.Name | ast.Attribute)}
    return named - {"", "self", "cls"}


_PARTS = frozenset(
    """mean sum max min item asarray array device_get block_until_ready unreplicate get tree_map map float int astype squeeze reshape
    stack concatenate""".split()  # noqa: SIM905
)
_STEPS_ON = re.compile(r"train|update|optimi|learn|(^|_)(fit|steps?|iterate)(_|$)")
_JUDGES = re.compile(r"eval|valid|test|predict|encod|embed|infer|extract|score")
_KEYS = re.compile(r"key|rng|seed")
