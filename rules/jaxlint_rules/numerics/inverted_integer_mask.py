"""`~` of masks that are integers."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.tables import is_integer
from jaxlint.api.values import Array, Value, dtype_of, range_of
from jaxlint.finding import Severity

_CASTS = frozenset({"astype", "asarray", "array"})
_VIEWS = frozenset(
    {"reshape", "expand_dims", "getitem", "squeeze", "broadcast_to", "transpose", "ravel", "repeat", "tile"}
)
_DEPTH = 6


class InvertedIntegerMask(Rule):
    """`~` inverts the bits of a mask of integers, and the result is always true.

    ## What it does
    Finds `~mask` where `mask` holds the integers 0 and 1: booleans that were cast to integers, or
    integers whose range is known.

    ## Why is this bad?
    `~` inverts every bit. Of booleans that is "not"; of the integers 0 and 1 it is -1 and -2. Both
    are true in `jnp.where`, and a sum of them counts nothing.

    ## Example
    ```python
    mask = jnp.isfinite(scores).astype(jnp.int32)
    scores = jnp.where(~mask, -1e9, scores)
    ```

    ## Use instead
    ```python
    mask = jnp.isfinite(scores)
    scores = jnp.where(~mask, -1e9, scores)
    ```
    Or `1 - mask`, where numbers are needed.

    ## Fix safety
    There is no automatic fix: `1 - mask` and `mask == 0` have other dtypes.

    ## When not to fix
    Keep it if the bits are meant.

    ## References
    - [jax.numpy.invert](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.invert.html)
    """

    code = "JAX1117"
    name = "inverted-integer-mask"
    category = "numerics"
    severity = Severity.WARNING
    preview = True  # until its findings in real code were read: docs/writing-rules.md

    @concerns("invert")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        node, values = event.node, event.operation.args
        if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.Invert) or not values:
            return
        cast = _cast_at(values[0])
        if cast:
            report(
                node,
                "`~` of the integers 0 and 1 gives -1 and -2, which are both true; keep the mask boolean",
                reason=cast,
            )


def _cast_at(value: Value, depth: int = _DEPTH) -> str:
    """Why a value holds the integers 0 and 1; "" if it may hold others."""
    if not isinstance(value, Array) or value.made is None or not is_integer(dtype_of(value)) or depth == 0:
        return ""
    made = value.made
    first = made.args[0] if made.args else None
    if made.name in _CASTS and first is not None and dtype_of(first) == "bool":
        return f"line {getattr(made.node, 'lineno', '?')} casts booleans to integers"
    if made.name in _VIEWS and first is not None:
        return _cast_at(first, depth - 1)
    held = range_of(value)
    if held is not None and (held.low, held.high) == (0, 1) and made.name == "where":
        return f"line {getattr(made.node, 'lineno', '?')} chooses between 0 and 1"
    return ""
