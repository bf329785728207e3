"""Accumulators of a loop: variables to which each iteration only adds. All summands may be computed at once and then
summed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jaxlint.codemods.facts.local_effects import constant_type


@dataclass(slots=True)
class Sum:
    """`name`, to which the statement `added` adds `value` in each iteration. `output`: the name for the values of all
    iterations."""

    name: str
    added: ast.stmt
    value: ast.expr
    output: str
    text: str = ""


def sums_of(body: Sequence[ast.stmt], names: Sequence[str], fresh: Callable[[str], str]) -> list[Sum]:
    """The accumulators among `names`, which are carried between iterations: nothing else reads their partial sums."""
    found = []
    for name in names:
        uses = [
            part
            for statement in body
            for part in ast.walk(statement)
            if isinstance(part, ast.Name) and part.id == name
        ]
        for statement in body:
            value = _added(statement, name)
            inside = {part for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id == name}
            once = 1 if isinstance(statement, ast.AugAssign) else 2
            if value is not None and len(inside) == once and set(uses) == inside:
                found.append(Sum(name, statement, value, fresh(f"{name}_parts")))
    return found


def _added(statement: ast.stmt, name: str) -> ast.expr | None:
    """`value` in `name += value`, `name = name + value` or `name = value + name`; None if it is a string."""
    value: ast.expr | None = None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        value = statement.value if _is(statement.target, name) else None
    elif (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is(statement.targets[0], name)
    ):
        whole = statement.value
        if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add):
            value = whole.right if _is(whole.left, name) else whole.left if _is(whole.right, name) else None
    is_text = value is None or constant_type(value) in (str, bytes) or isinstance(value, ast.List | ast.Tuple)
    return None if is_text else value


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
