"""Source around calls of optimisers and modules."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Module
from jaxlint.api.syntax import FunctionNode, all_parameters, dotted, nodes_of
from jaxlint.api.values import Array, ExternalMethod, ExternalObject, Unknown, Value, constant
from jaxlint_rules._names import unpacked

_CHANGED = "flax.linen.Module.apply"
_HAIKU = "hk.apply"
# Collections that a later call reads. Others, such as intermediates, may be requested and ignored.
_KEPT = frozenset({"batch_stats", "cache"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OPTIMISER = re.compile(r"(^|[._])(opt|optim|optimizer|optimiser|tx|optax_opt)$")


def is_optimiser_update(event: CallEvent) -> bool:
    """`optimizer.update(grads, state)` of an optax optimiser, or of a variable named like one."""
    if not isinstance(event.node, ast.Call) or not isinstance(event.node.func, ast.Attribute):
        return False
    if event.node.func.attr != "update" or len(event.args) + len(event.kwargs) < 2:
        return False
    if isinstance(event.callee, ExternalMethod) and isinstance(event.callee.receiver, ExternalObject):
        return event.callee.receiver.name.startswith(("optax.", "flax.TrainState.tx"))
    return isinstance(event.callee, Unknown) and bool(
        _OPTIMISER.search(dotted(event.node.func.value).lower())
    )


def targets_of(node: ast.AST, module: Module) -> list[ast.expr]:
    """The targets that a call's result is unpacked into; empty unless it is assigned once."""
    parent = module.parents.get(node)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or parent.value is not node:
        return []
    target = parent.targets[0]
    return list(unpacked(target))


def is_read(name: str, function: ast.AST, but: ast.AST | None = None) -> bool:
    """Whether `function` reads `name` outside the node `but`; a variable of a nested function is another one."""
    skipped = set(ast.walk(but)) if but is not None else set()
    for inner in ast.walk(function):
        if inner is not function and isinstance(inner, _FUNCTIONS) and _binds(name, inner):
            skipped |= set(ast.walk(inner))
    return any(
        isinstance(part, ast.Name)
        and part.id == name
        and isinstance(part.ctx, ast.Load)
        and part not in skipped
        for part in ast.walk(function)
    )


def _binds(name: str, function: FunctionNode) -> bool:
    """Whether `name` is a parameter or local variable of the function."""
    stores = {part.id for part in nodes_of(function, ast.Name) if isinstance(part.ctx, ast.Store)}
    outer = {n for part in nodes_of(function, ast.Nonlocal) for n in part.names}
    return name in {parameter.arg for parameter in all_parameters(function)} | (stores - outer)


def state_collection(value: Value) -> str:
    """The collection of a module's new state; "" for anything else."""
    made = value.made if isinstance(value, Array) else None
    if made is not None and made.name == _HAIKU:
        return "state"
    if made is None or made.name != _CHANGED or not made.args:
        return ""
    names = constant(made.args[0])
    listed = (names,) if isinstance(names, str) else names if isinstance(names, tuple) else ()
    return next((str(name) for name in listed if name in _KEPT), "")
