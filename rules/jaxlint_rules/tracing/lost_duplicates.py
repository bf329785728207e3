"""Indexed updates that read before they write and so lose repeated indices."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Frame, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.values import Array, ExternalMethod, NumpyArray, Unknown, Value, symbolic_shape
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name, unpacked, updated_at

# Functions that return each index once, or a mask.
_UNIQUE = frozenset(
    {
        *("argsort", "arange", "permutation", "nonzero", "where", "flatnonzero", "unique", "top_k", "iota"),
        *("tril_indices", "triu_indices", "diag_indices", "ix_", "linspace", "meshgrid", "indices"),
    }
)
_PLURAL = re.compile(
    r"(^|_)(ids|idx|idxs|indices|inds|receivers|senders|segments|targets|dst|src|rows|cols|bins|nodes|neighbors|edges)$"
)


class LostDuplicates(Rule):
    """A `.set` at repeated indices keeps only one of their updates.

    ## What it does
    Finds `x.at[idx].set(x[idx] + v)` and `x.at[idx].set(x[idx] - v)` where `idx` is an array of
    indices.

    ## Why is this bad?
    `x[idx] + v` reads all items before any is written. If an index occurs twice, both sums start
    from the old value, and only one of them is stored. Messages in a graph network go missing and
    counts stop at one, without an exception. `.add` accumulates all of them in one scatter
    operation.

    ## Example
    ```python
    degree = degree.at[receivers].set(degree[receivers] + 1)
    ```

    ## Use instead
    ```python
    degree = degree.at[receivers].add(1)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it where every index is unique. Indices from `argsort`, `arange`, `permutation`, `nonzero`
    and similar functions, masks, slices and scalar indices are not reported.

    ## References
    - [jax.numpy.ndarray.at](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html)
    """

    code = "JAX123"
    name = "lost-duplicates"
    category = "tracing"
    severity = Severity.WARNING

    @concerns(callees=("ExternalMethod",), methods=("set",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if not isinstance(event.callee, ExternalMethod) or event.callee.name != "set":
            return
        if not isinstance(node, ast.Call) or len(node.args) != 1 or event.frame.is_in_test():
            return
        place, update = updated_at(node), node.args[0]
        if (
            place is None
            or not isinstance(update, ast.BinOp)
            or not isinstance(update.op, (ast.Add, ast.Sub))
        ):
            return
        base, index = place
        sides = [update.left, update.right] if isinstance(update.op, ast.Add) else [update.left]
        if not any(_is_item(side, base, index) for side in sides):
            return
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not any(_may_repeat(part, event.frame) for part in parts):
            return
        report(
            node,
            f"`{ast.unparse(base)}.at[...].set` keeps only one update of a repeated index; use `.add`",
            reason=f"`{ast.unparse(index)}` {'holds arrays' if len(parts) > 1 else 'is an array'} of indices, and the old items are read before any is written",
        )


def _is_item(side: ast.expr, base: ast.expr, index: ast.expr) -> bool:
    """`x[idx]` of the array and the index that are written."""
    return (
        isinstance(side, ast.Subscript)
        and ast.dump(side.value) == ast.dump(base)
        and ast.dump(side.slice) == ast.dump(index)
    )


def _may_repeat(part: ast.expr, frame: Frame) -> bool:
    """Whether an index is an array of numbers that may come several times."""
    if not isinstance(part, (ast.Name, ast.Attribute)):
        return False
    root = part.id if isinstance(part, ast.Name) else ""
    if root in _bound_to_unique(frame.owner):
        return False
    value: Value | None = frame.value_of(root) if root else None
    if isinstance(value, NumpyArray):
        return bool(_PLURAL.search(dotted(part).rpartition(".")[2].lower()))
    if not isinstance(value, (Array, Unknown)) and root:
        return False
    if isinstance(value, Array):
        if value.dtype == "bool":
            return False
        maker = value.made.name.rpartition(".")[2] if value.made is not None else ""
        if maker in _UNIQUE:
            return False
        shape = symbolic_shape(value)
        if shape is not None:
            return len(shape) > 0 and shape != (1,)
    return bool(_PLURAL.search(last_name(part).lower()))


@cache
def _bound_to_unique(owner: ast.AST) -> frozenset[str]:
    """The variables that a body binds to the result of such a function, also by unpacking."""
    return frozenset(
        part.id
        for statement in nodes_of(owner, ast.Assign)
        if isinstance(statement.value, ast.Call) and last_name(statement.value.func) in _UNIQUE
        for target in statement.targets
        for part in unpacked(target)
        if isinstance(part, ast.Name)
    )
