"""Dependencies between values in a loop body, by names and regardless of order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api.syntax import cache, walk
from jaxlint_rules._names import names_in, passed

OBJECTS = frozenset({"self", "cls"})
_KNOWN_BEFORE = frozenset({"shape", "ndim", "dtype", "size"})  # for any concrete values
_GROWS = frozenset({"append", "extend", "add", "insert"})  # a container stores its arguments


@cache
def assignments(loop: ast.AST) -> tuple[tuple[frozenset[str], ast.AST], ...]:
    """The names that the loop body binds, with their values; inner loops bind their iterables' items."""
    found: list[tuple[frozenset[str], ast.AST]] = []
    for statement in getattr(loop, "body", []):
        for part in walk(statement):
            if isinstance(part, ast.Assign):
                names = set[str]().union(*map(_bound_in, part.targets))
                found.append((frozenset(names - OBJECTS), part.value))
            elif isinstance(part, ast.AnnAssign | ast.AugAssign) and part.value is not None:
                found.append((frozenset(_bound_in(part.target) - OBJECTS), part.value))
            elif isinstance(part, ast.For | ast.comprehension):
                found.append((frozenset(names_in(part.target) - OBJECTS), part.iter))
    return tuple(found)


def _bound_in(target: ast.AST) -> set[str]:
    """The names that an assignment changes: of `table[name]` the table, not the index."""
    if isinstance(target, ast.Subscript):
        return _bound_in(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return set[str]().union(*map(_bound_in, target.elts))
    return names_in(target)


def calls_in(loop: ast.AST) -> Iterator[ast.Call]:
    """The calls in the body of a loop."""
    for statement in getattr(loop, "body", []):
        yield from (part for part in walk(statement) if isinstance(part, ast.Call))


def made_of(node: ast.AST, loop: ast.AST) -> set[str]:
    """The names that hold `node`, or a value computed from it in the same iteration."""
    found: set[str] = set()
    while True:
        before = len(found)
        for targets, value in assignments(loop):
            if has(value, node, found):
                found |= targets
        for call in calls_in(loop):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _GROWS:
                taken = any(has(one, node, found) for one in passed(call))
                if taken and isinstance(call.func.value, ast.Name):
                    found.add(call.func.value.id)
        if len(found) == before:
            return found


def has(value: ast.AST, node: ast.AST, names: set[str]) -> bool:
    """Whether an expression contains `node`, or reads one of the names for more than its shape or dtype."""
    if value is node or (isinstance(value, ast.Name) and value.id in names):
        return True
    if isinstance(value, ast.Attribute) and value.attr in _KNOWN_BEFORE:
        return False
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "len":
        return False
    return any(has(part, node, names) for part in ast.iter_child_nodes(value))


def needed_for(names: set[str], loop: ast.AST) -> Iterator[tuple[set[str], list[ast.AST]]]:
    """Backwards step by step, the names needed to compute `names` in an iteration."""
    needed = set(names)
    while True:
        made = [value for targets, value in assignments(loop) if targets & needed]
        wider = needed.union(*map(names_in, made))
        yield needed, made
        if wider == needed:
            return
        needed = wider


def sources(names: set[str], loop: ast.AST) -> set[str]:
    """All names that `names` depend on in an iteration, themselves included."""
    return list(needed_for(names, loop))[-1][0]


@cache
def stepped_on(loop: ast.AST) -> frozenset[str]:
    """The names that the loop updates from their previous value by a call: `state = step(state, batch)`."""
    # The loop binds them, or the body does before it updates them from themselves.
    fresh = names_in(getattr(loop, "target", None))
    body = [part for statement in getattr(loop, "body", []) for part in walk(statement)]
    fresh = fresh.union(*(names_in(one.target) for one in body if isinstance(one, ast.comprehension)))
    found: set[str] = set()
    for targets, value in sorted(assignments(loop), key=lambda one: getattr(one[1], "lineno", 0)):
        if any(isinstance(part, ast.Call) for part in walk(value)):
            found |= (targets & sources(names_in(value), loop)) - fresh
        fresh |= targets
    return frozenset(found)
