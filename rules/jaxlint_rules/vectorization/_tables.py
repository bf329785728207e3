"""Loops that fill an array, each iteration with a value computed from a row of another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api.syntax import cache, dotted, walk
from jaxlint_rules._loops import counters
from jaxlint_rules._names import bound_by, last_name, names_in, updated_at
from jaxlint_rules._slices import calls_in

_LEAVING = (ast.If, ast.While, ast.Try, ast.With, ast.Break, ast.Return, ast.Yield, ast.Await, ast.AugAssign)


@cache
def filled_by_rows(loop: ast.For) -> str:
    """The array whose rows a loop reads, if it writes values computed from `rows[i]` to tables, `table.at[i]`, and
    carries nothing else."""
    number = min(counters(loop), default="")
    parts = [part for statement in loop.body for part in walk(statement)] if number else []
    if not number or any(isinstance(part, _LEAVING) or _cuts_at(part, number) for part in parts):
        return ""
    tables = {name for statement in loop.body for name in _written(statement, number)}
    updates = sum(isinstance(part, ast.Attribute) and part.attr == "at" for part in parts)
    read = sum(_is_read(part, table) for part in parts for table in tables)
    if not tables or read != updates or _carries(loop, parts, tables):
        return ""
    return next(
        (
            dotted(part.value)
            for part in parts
            if isinstance(part, ast.Subscript)
            and isinstance(part.ctx, ast.Load)
            and isinstance(part.value, ast.Name)
            and _picks(part.slice, number)
        ),
        "",
    )


def moves_only(loop: ast.For) -> bool:
    """Whether a loop copies or converts elements, and computes nothing with a row but plain arithmetic."""
    return all(updated_at(call) is not None or last_name(call.func) in _MOVING for call in calls_in(loop))


_MOVING = frozenset(["float", "int", "bool", "range", "len", "array", "asarray", "minimum", "maximum"])


def _cuts_at(part: ast.AST, number: str) -> bool:
    """`xs[:, :i]`, which has another size in each iteration, so that no `vmap` computes it."""
    return isinstance(part, ast.Slice) and number in names_in(part)


def _picks(index: ast.expr, number: str) -> bool:
    """`rows[i]`, `rows[i, :]`, and no slice of several rows."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(not isinstance(part, ast.Slice) and number in names_in(part) for part in parts)


def _is_read(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _written(statement: ast.stmt, number: str) -> Iterator[str]:
    """`table` in `table = table.at[..., i, ...].set(value)`, also in a nested loop."""
    if isinstance(statement, ast.For):
        for inner in statement.body:
            yield from _written(inner, number)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return
    place = updated_at(statement.value)
    if place is None or getattr(statement.value.func, "attr", "") not in ("set", "add"):
        return
    table, index = dotted(place[0]), place[1]
    if table == dotted(statement.targets[0]) and number in names_in(index):
        yield table


def _carries(loop: ast.For, parts: list[ast.AST], tables: set[str]) -> bool:
    """Whether an iteration reads, besides the tables, names that the previous one has bound."""
    bound = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return _reads_before(loop.body, bound - tables)


def _reads_before(body: list[ast.stmt], unbound: set[str]) -> bool:
    for statement in body:
        if isinstance(statement, ast.For):
            inner = unbound - names_in(statement.target)
            if names_in(statement.iter) & unbound or _reads_before(statement.body, inner):
                return True
            continue
        read = names_in(statement)
        stored = bound_by(statement)
        if (read - stored) & unbound or any(
            _is_read(part, name) for name in stored & unbound for part in walk(statement)
        ):
            return True
        unbound = unbound - stored
    return False
