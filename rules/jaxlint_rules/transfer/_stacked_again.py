"""Arrays that Python takes apart row by row and then stacks again: `first, *rows = xs; jnp.stack(rows)`."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.values import Array, ListValue, constant
from jaxlint_rules._cost import DISPATCH, runs
from jaxlint_rules._names import last_name

STACKS = ("jax.numpy.array", "jax.numpy.asarray", "jax.numpy.stack")
FEW = 8  # rows that cost less than a rewrite
_UNKNOWN = 16  # rows, if nothing shows how many there are


def rows_taken(event: CallEvent) -> ast.expr | None:
    """The array, as an expression, that a statement of the function took apart and whose rows a call stacks; None for others.

    Only arrays on the host count, whose rows are a dispatch each.
    """
    node, frame = event.node, event.frame
    value = event.args[0] if event.args else None
    if (
        frame.stage.staged
        or not isinstance(node, ast.Call)
        or not node.args
        or not isinstance(value, ListValue)
    ):
        return None
    rows = value.elements()
    if not rows or not all(isinstance(row, Array) and not row.staged and row.certain for row in rows):
        return None
    name = dotted(node.args[0])
    return _taken_apart(frame.owner).get(name) if name else None


def seconds(whole: ast.expr, frame: Frame) -> float:
    """What taking the rows apart and stacking them costs in one run of the program; 0 for a few rows."""
    count = _count(whole, frame)
    return 0.0 if count is not None and count <= FEW else runs(frame) * (count or _UNKNOWN) * 2 * DISPATCH


@cache
def _taken_apart(owner: ast.AST) -> dict[str, ast.expr]:
    """The names that `first, *rows = xs` binds to rows, with the arrays; a name that is bound otherwise too is left out."""
    rests: dict[str, ast.expr] = {}
    for statement in nodes_of(owner, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)):
            rests |= {
                part.value.id: statement.value
                for part in target.elts
                if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name)
            }
    starred = {
        name
        for statement in nodes_of(owner, ast.Assign)
        for name in rests
        if any(dotted(target) == name for target in statement.targets)
    }
    return {name: whole for name, whole in rests.items() if name not in starred}


def _count(whole: ast.expr, frame: Frame) -> int | None:
    """How many keys a split makes, if the program says."""
    if not isinstance(whole, ast.Call) or last_name(whole.func) != "split":
        return None
    given = [keyword.value for keyword in whole.keywords if keyword.arg == "num"] or whole.args[1:2]
    return _number(given[0], frame) if given else 2


def _number(node: ast.expr, frame: Frame) -> int | None:
    """A whole number, or the sum of two."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _number(node.left, frame), _number(node.right, frame)
        return left + right if left is not None and right is not None else None
    held = frame.value_of(node.id) if isinstance(node, ast.Name) else None
    value = node.value if isinstance(node, ast.Constant) else constant(held) if held is not None else None
    return value if type(value) is int else None
