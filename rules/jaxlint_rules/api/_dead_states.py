"""Variables that hold a new version of a value, and that are only read by their own updates."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from jaxlint.api.syntax import FunctionNode, all_parameters, cache, dotted, nodes_of, walk
from jaxlint_rules._names import flattened, names_in, unpacked

_NEWER = re.compile(r"^(?:new|next|updated|upd)_(\w+)$|^(\w+?)_(?:new|next|updated)$")


class Dead(NamedTuple):
    """A variable that is never used. `old`: the place of the older version, which is used instead."""

    name: str
    old: str


def older_name(name: str) -> str:
    """`state` for `new_state`, `state_new` and the like; "" for any other name."""
    found = _NEWER.match(name)
    return (found[1] or found[2]) if found else ""


@cache
def dead_states(function: FunctionNode) -> dict[ast.AST, Dead]:
    """The unused new versions in a function, each by the expressions that compute it."""
    if isinstance(function, ast.Lambda) or not any(map(_may_be_newer, nodes_of(function, ast.Assign))):
        return {}
    assigned = _assignments(function)
    dead = _unused(function, assigned)
    parameters = {parameter.arg for parameter in all_parameters(function)}
    found: dict[ast.AST, Dead] = {}
    for name in dead:
        old = _older(name, assigned[name], function, parameters)
        if old:
            for statement in assigned[name]:
                if not isinstance(statement.value, (ast.Name, ast.Attribute)):
                    found[statement.value] = Dead(name, old)
    return found


def _may_be_newer(statement: ast.Assign) -> bool:
    """Whether an assignment, by its text alone, may begin or make a newer version: most functions have none."""
    value = statement.value
    if isinstance(value, (ast.Name, ast.Attribute)):
        return True
    if isinstance(value, ast.Constant):
        return False
    names = {
        part.id for target in statement.targets for part in flattened(target) if isinstance(part, ast.Name)
    }
    return any(map(_NEWER.match, names)) or any(part.attr in names for part in nodes_of(value, ast.Attribute))


def _assignments(function: FunctionNode) -> dict[str, list[ast.Assign]]:
    """The assignments to each local variable; no variable that is bound in another way, or under a test."""
    found: dict[str, list[ast.Assign]] = {}
    for statement in nodes_of(function, ast.Assign):
        for target in statement.targets:
            for part in flattened(target):
                if isinstance(part, ast.Name):
                    found.setdefault(part.id, []).append(statement)
    counted = {name: len(statements) for name, statements in found.items()}
    for part in nodes_of(function, ast.Name):
        if isinstance(part.ctx, ast.Store):
            counted[part.id] = counted.get(part.id, 0) - 1
    declared = {name for statement in nodes_of(function, ast.Global) for name in statement.names}
    declared |= {name for statement in nodes_of(function, ast.Nonlocal) for name in statement.names}
    return {
        name: statements
        for name, statements in found.items()
        if counted[name] == 0 and name not in declared and not name.startswith("_")
    }


def _unused(function: FunctionNode, assigned: dict[str, list[ast.Assign]]) -> set[str]:
    """The variables that are read at most where unused variables are computed."""
    readers: dict[str, list[frozenset[str] | None]] = {name: [] for name in assigned}
    owners: dict[ast.AST, frozenset[str]] = {}
    for statement in {id(s): s for statements in assigned.values() for s in statements}.values():
        parts = [part for target in statement.targets for part in flattened(target)]
        bound = {part.id for part in parts if isinstance(part, ast.Name)}
        if len(bound) == len(parts):
            for part in walk(statement.value):
                owners[part] = frozenset(bound)
    for part in nodes_of(function, ast.Name):
        if part.id in readers and not isinstance(part.ctx, ast.Store):
            readers[part.id].append(owners.get(part))
    dead = set(assigned)
    while True:
        alive = {
            name
            for name in dead
            if any(
                bound is None or not all(one in dead or one == "_" for one in bound)
                for bound in readers[name]
            )
        }
        if not alive:
            return dead
        dead -= alive


def _older(name: str, statements: list[ast.Assign], function: FunctionNode, parameters: set[str]) -> str:
    """The older version of a variable, which the function uses instead; "" if there is none."""
    if len(statements) > 1:
        return _copied(name, statements, parameters, function)
    value = statements[0].value
    if isinstance(value, (ast.Constant, ast.Name, ast.Attribute)):
        return ""
    match = _NEWER.match(name)
    if match is not None:
        plain = match[1] or match[2]
        given = plain in names_in(value) and plain in _kept(function)
        return plain if given else ""
    if not isinstance(statements[0].targets[0], ast.Name):
        return ""  # one of several results; its name alone says little, so it may be unrelated
    for part in walk(value):
        if isinstance(part, ast.Attribute) and part.attr == name:
            root = dotted(part).partition(".")[0]
            if root in parameters and root != "self" and root in _kept(function):
                return dotted(part)
    return ""


def _copied(name: str, statements: list[ast.Assign], parameters: set[str], function: FunctionNode) -> str:
    """The parameter that the variable begins with, before the function updates it from itself."""
    first, *later = sorted(statements, key=lambda statement: statement.lineno)
    old = dotted(first.value)
    if not old or old.partition(".")[0] not in parameters:
        return ""
    updates = any(name in names_in(statement.value) for statement in later)
    after = any(
        dotted(part) == old and part.lineno > later[-1].lineno
        for part in walk(function)
        if isinstance(part, (ast.Name, ast.Attribute))
    )
    return old if updates and after else ""


def _kept(function: FunctionNode) -> set[str]:
    """The variables that the function returns unchanged, alone, as a part of its result or as the base of a copy."""
    found: set[str] = set()
    for statement in nodes_of(function, ast.Return):
        if statement.value is not None:
            found |= {name for part in unpacked(statement.value) if (name := _handed(part))}
    return found


def _handed(value: ast.expr) -> str:
    """`state` in `state` and in `state.replace(...)`."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("replace", "_replace"):
            return dotted(value.func.value)
    return ""
