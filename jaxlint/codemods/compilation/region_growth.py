"""Arrays and lists that grow in a loop around a region: as arguments of a jitted function they would compile it for each length.

`logits = step(params, tokens[:, -1])`, with `tokens = jnp.concatenate([tokens, token[:, None]], axis=1)` in the loop, leaves the
row to the host, which hands it to the jitted function.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.compilation.region_statements import grows

_ADDS = frozenset({"append", "extend", "insert"})
_FIRST_AXIS = frozenset({"append", "concatenate", "vstack"})


def growing_in(loops: Sequence[ast.AST]) -> dict[str, ast.stmt]:
    """The variables that grow in loops and are not reassigned there, each with a statement that makes it longer."""
    found: dict[str, ast.stmt] = {}
    for loop in loops:
        inside = list(ast.walk(loop))
        longer = [(one, name) for one in inside if isinstance(one, ast.stmt) and (name := _grown_by(one))]
        for one, name in longer:
            same = {id(other) for other, grown in longer if grown == name}
            set_by = [
                part
                for other in inside
                if isinstance(other, ast.stmt) and id(other) not in same
                for part in _targets(other)
                if part.id == name
            ]
            if not set_by:
                found.setdefault(name, one)
    return found


def is_row(node: ast.expr, growing: dict[str, ast.stmt]) -> bool:
    """Whether an expression is one row of a variable that grows, at a fixed index of the axis that grows."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    statement = growing.get(node.value.id)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    axis = _axis_of(statement) if statement is not None else None
    if axis is None or axis >= len(indices):
        return False
    return _is_number(indices[axis]) and all(_is_number(one) or _is_whole(one) for one in indices)


def _grown_by(statement: ast.stmt) -> str:
    """The variable that a statement makes longer; "" if there is none."""
    if grows(statement):
        target = statement.targets[0]  # type: ignore[attr-defined]
        return str(target.id)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _ADDS:
        return call.func.value.id if isinstance(call.func.value, ast.Name) else ""
    return ""


def _axis_of(statement: ast.stmt) -> int | None:
    """The axis that a statement makes longer, from the front; None if that is not certain."""
    call = statement.value  # type: ignore[attr-defined]
    if isinstance(statement, ast.Expr):
        return 0
    axes = [
        *call.args[2 if call.func.attr == "append" else 1 :],
        *(one.value for one in call.keywords if one.arg == "axis"),
    ]
    if not axes:
        return 0 if call.func.attr in _FIRST_AXIS else None
    axis = axes[0].value if isinstance(axes[0], ast.Constant) else None
    return axis if isinstance(axis, int) and len(axes) == 1 else None


def _targets(statement: ast.stmt) -> list[ast.Name]:
    """The variables that a statement itself sets, without those of statements in it."""
    heads: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        heads = list(statement.targets)
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For):
        heads = [statement.target]
    elif isinstance(statement, ast.With):
        heads = [one.optional_vars for one in statement.items if one.optional_vars is not None]
    return [part for head in heads for part in ast.walk(head) if isinstance(part, ast.Name)]


def _is_number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant) and type(inner.value) is int


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)
