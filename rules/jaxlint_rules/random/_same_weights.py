"""Modules that are initialised twice with the same key, so that two sets of weights are equal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.api import Frame, Module
from jaxlint.api.syntax import names_stored, nodes_of
from jaxlint_rules._names import last_name, names_in

# Functions that copy the weights of another model on purpose.
TWIN = re.compile(
    r"(^|_)(target|ema|teacher|slow|inference|old|prev|previous|last|copy|initial|init|ref|reference|best|lagged|bar|avg|average)(_|$)"
)


def equal_weights(call: ast.Call, frame: Frame) -> ast.Call | None:
    """An earlier `module.init(key, x)` of the function with the same text, if both results have different
    names and nothing in between rebinds the arguments.
    """
    owner = frame.owner
    if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)) or frame.loops:
        return None
    text, given = ast.unparse(call), names_in(call)
    for other in nodes_of(owner, ast.Call):
        if other is call or other.lineno >= call.lineno or ast.unparse(other) != text:
            continue
        names = [name for one in (other, call) for name in receivers(one, frame.module)]
        if len(set(names)) < 2 or any(TWIN.search(name.lower()) for name in names):
            return None
        if _around(other, frame.module) is not _around(call, frame.module):
            return None  # in other branches
        changed = (
            names_stored(statement)
            for statement in nodes_of(owner, ast.stmt)
            if other.lineno < statement.lineno < call.lineno
        )
        return other if given.isdisjoint(set[str]().union(*changed)) else None
    return None


def receivers(node: ast.AST, module: Module) -> Iterator[str]:
    """The names that receive a value computed from this one: the variable, and parameters of the calls in between."""
    for above in module.ancestors(node):
        if isinstance(above, ast.keyword):
            yield above.arg or ""
        elif isinstance(above, ast.stmt):
            if isinstance(above, ast.Assign):
                yield last_name(above.targets[0])
            return


def _around(node: ast.AST, module: Module) -> ast.AST | None:
    """The statement whose body a place is in."""
    above = (one for one in module.ancestors(node) if isinstance(one, (ast.stmt, ast.Module)))
    next(above, None)
    return next(above, None)
