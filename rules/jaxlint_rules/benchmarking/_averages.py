"""Times measured in a loop, and whether their mean includes the first one."""

from __future__ import annotations

import ast

from jaxlint.api import ElapsedEvent, Loop
from jaxlint.api.syntax import dotted, nodes_of, walk
from jaxlint_rules._loops import loop_variables
from jaxlint_rules._names import function_around, variable_given

_MEANS = frozenset({"mean", "average", "fmean", "nanmean", "sum"})
# Expressions that exclude the first, longest time, or show it separately.
_ROBUST = frozenset(
    {"median", "min", "amin", "nanmin", "percentile", "quantile", "pop", "popleft", "sort", "sorted"}
)


def averaged(event: ElapsedEvent, loop: Loop) -> bool:
    """Whether the times of all iterations are averaged, including the first."""
    module = event.frame.module
    body = function_around(loop.node, module) or module.tree
    name = _kept_as(event, loop)
    if not name or _counts_iterations(loop):
        return False
    mean = False
    for node in ast.walk(body):
        if isinstance(node, ast.Subscript) and dotted(node.value) == name:
            return False  # `times[1:]`
        if isinstance(node, ast.Call):
            owner, _, last = dotted(node.func).rpartition(".")
            about = owner == name or any(dotted(argument) == name for argument in node.args)
            if about and last in _ROBUST:
                return False
            mean = mean or (about and last in _MEANS)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and dotted(node.left) == name:
            mean = True
    return mean


def is_divided(event: ElapsedEvent) -> bool:
    """Whether the elapsed time is divided, or is a divisor: `(t1 - t0) / n`, `n / elapsed`."""
    module = event.frame.module
    parent = module.parents.get(event.node)
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Div)
    if not isinstance(parent, ast.Assign):
        return False
    kept = dotted(parent.targets[0])
    body = event.frame.function.node if event.frame.function is not None else module.tree
    return any(
        isinstance(node.op, ast.Div) and kept in {dotted(part) for part in walk(node)}
        for node in nodes_of(body, ast.BinOp)
    )


def _kept_as(event: ElapsedEvent, loop: Loop) -> str:
    """The list or sum that receives an iteration's elapsed time."""
    module = event.frame.module
    found = _sink(module.parents.get(event.node), event.node)
    if found:
        return found
    name = variable_given(module.parents.get(event.node))
    if name:
        for node in ast.walk(loop.node):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                found = _sink(module.parents.get(node), node)
                if found:
                    return found
    return ""


def _sink(parent: ast.AST | None, node: ast.AST) -> str:
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "append"
    ):
        return dotted(parent.func.value)
    if isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Add) and parent.value is node:
        return dotted(parent.target)
    return ""


def _counts_iterations(loop: Loop) -> bool:
    """Whether the body treats some iterations differently: `if i == 0: continue`, `if i >= warmup:`."""
    names = loop_variables(loop.node)
    return any(
        isinstance(node, (ast.If, ast.IfExp))
        and any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node.test))
        for node in ast.walk(loop.node)
    )
