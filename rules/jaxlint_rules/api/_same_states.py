"""Loops in which each iteration computes a new state from the same old one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from jaxlint.api.syntax import cache, dotted, names_stored, nodes_of
from jaxlint_rules._names import flattened, last_name, names_in, passed
from jaxlint_rules.api._dead_states import older_name

_PLAIN = (ast.Name, ast.Constant, ast.Tuple, ast.Load)


def unchanged_states(loop: ast.AST, steps: Mapping[ast.Call, ast.Assign]) -> dict[ast.Call, tuple[str, str]]:
    """The calls of compiled functions in a loop that compute a new version of a state from a state and other arguments
    that no iteration changes: the names of the new and the old version.

    `steps`: the calls of compiled functions in the loop, with their assignments. Such a function depends on its arguments
    alone, so results of unchanged arguments are unchanged, too.
    """
    if not isinstance(loop, (ast.For, ast.While)) or _waits(loop):
        return {}
    changing = set(names_stored(loop)) | _mutated(loop)
    known: dict[ast.Call, ast.Assign] = {}
    while True:
        same = {
            call: statement
            for call, statement in steps.items()
            if call not in known and _are_names(passed(call)) and not _given(call) & changing
        }
        if not same:
            break
        known |= same
        changing -= {name for statement in same.values() for name in _only_here(statement, loop)}
    found: dict[ast.Call, tuple[str, str]] = {}
    for call, statement in known.items():
        for new in _targets(statement):
            old = older_name(new)
            if old in _given(call) and old not in names_stored(loop):
                found.setdefault(call, (new, old))
    return found


def _are_names(arguments: Iterable[ast.expr]) -> bool:
    """Whether all arguments are variables and constants: an attribute or an item may change unseen."""
    return all(isinstance(part, _PLAIN) for each in arguments for part in ast.walk(each))


def _given(call: ast.Call) -> set[str]:
    return set[str]().union(*map(names_in, passed(call)))


def _targets(statement: ast.Assign) -> list[str]:
    return [dotted(part) for target in statement.targets for part in flattened(target)]


def _only_here(statement: ast.Assign, loop: ast.AST) -> set[str]:
    """The names that this assignment alone gives a value in the loop, in each iteration."""
    if statement not in getattr(loop, "body", ()):
        return set()
    stored = [name.id for name in nodes_of(loop, ast.Name) if isinstance(name.ctx, ast.Store)]
    return {name for name in _targets(statement) if stored.count(name) == 1}


@cache
def _mutated(loop: ast.AST) -> set[str]:
    """The variables that a loop may change in place: an item or attribute is set, or a method is called for its effect."""
    changed: list[ast.Attribute | ast.Subscript] = [
        *nodes_of(loop, ast.Attribute),
        *nodes_of(loop, ast.Subscript),
    ]
    found = {dotted(part.value).partition(".")[0] for part in changed if not isinstance(part.ctx, ast.Load)}
    for statement in nodes_of(loop, ast.Expr):
        if isinstance(statement.value, ast.Call):
            found |= names_in(statement.value)
    return found


@cache
def _waits(loop: ast.AST) -> bool:
    """Whether a loop waits for results, as one that measures a function does."""
    return any(last_name(call.func) == "block_until_ready" for call in nodes_of(loop, ast.Call))
