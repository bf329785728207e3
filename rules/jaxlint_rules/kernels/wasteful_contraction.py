"""Matrix products that compute or store far more than is read."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Operation, Value, constant, shape_of
from jaxlint.finding import Severity
from jaxlint_rules.numerics._expressions import made

_PRODUCTS = ("matmul", "dot")


class WastefulContraction(Rule):
    """A contraction computes or stores more than it returns.

    ## What it does
    Finds `jnp.trace(a @ b)`, and `(a[:, None, :] * b[None, :, :]).sum(-1)`, which is the matrix
    product `a @ b.T`.

    ## Why is this bad?
    `a @ b` costs `2 n^3` operations, and its trace reads `n` of its `n^2` numbers;
    `jnp.sum(a * b.T)` costs `2 n^2`. For matrices of 1024 rows that is 57 ms against 10 ms on a
    CPU. Outside `jit` the broadcast product stores every single product at once: 537 MB for 512 by
    1024 rows of 256 numbers, and 1.6 s against 16 ms. Under `jit`, XLA fuses it, and on a CPU it is
    then as fast. GPUs and TPUs were not measured.

    ## Example
    ```python
    overlap = jnp.trace(a @ b)
    scores = (q[:, None, :] * k[None, :, :]).sum(-1)
    ```

    ## Use instead
    ```python
    overlap = jnp.sum(a * b.T)
    scores = q @ k.T
    ```

    ## Fix safety
    There is no automatic fix: another order of sums rounds differently, and a matrix product may
    run at lower precision.

    ## When not to fix
    Keep it for small matrices. The finding is advice (`info`).

    ## References
    - [jax.numpy.einsum](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.einsum.html)
    """

    code = "JAX1308"
    name = "wasteful-contraction"
    category = "kernels"
    severity = Severity.INFO
    preview = True  # until its findings in real code have been read: docs/writing-rules.md

    @concerns("trace", "sum")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        inner = made(operation.args[0]) if operation.args else None
        if inner is None or report.module.is_test or event.node not in report.module.ancestors(inner.node):
            return  # a named value may be read elsewhere
        if operation.name == "trace" and inner.name in _PRODUCTS and len(operation.args) == 1:
            shape = _shape_of_first(inner.args)
            rows, terms = shape[0], shape[0] * shape[1]
            report(
                event.node,
                "the trace of a matrix product computes all of it; use `jnp.sum(a * b.T)`",
                reason=f"it takes {2 * terms * rows:,} operations instead of {2 * terms:,}"
                if terms
                else "it takes n times as many operations for n x n matrices",
            )
        elif operation.name == "sum" and inner.name == "multiply" and _is_contraction(operation, inner):
            report(
                event.node,
                "this broadcast multiply and sum is a matrix product; use `@` or `jnp.einsum`",
                reason="each operand is repeated along an axis of the other, and the sum is over an axis of both",
            )


def _shape_of_first(operands: tuple[Value, ...]) -> tuple[int, int]:
    """The shape of the first of two matrices; zeros if unknown."""
    shape = shape_of(operands[0]) if operands else None
    known = shape is not None and len(shape) == 2 and all(isinstance(size, int) for size in shape)
    return (shape[0], shape[1]) if shape is not None and known else (0, 0)


def _is_contraction(sum_: Operation, product: Operation) -> bool:
    """`(a[:, None, :] * b[None, :, :]).sum(-1)`: both operands have new axes, at different places, and none of them
    is summed."""
    axis = constant(sum_.operand(1, "axis")) if sum_.operand(1, "axis") is not None else None
    if not isinstance(axis, int) or isinstance(axis, bool) or not isinstance(product.node, ast.BinOp):
        return False
    left, right = _new_axes(product.node.left), _new_axes(product.node.right)
    if left is None or right is None or left[1] != right[1]:
        return False
    axis = axis + left[1] if axis < 0 else axis
    return bool(left[0] and right[0]) and left[0].isdisjoint(right[0]) and axis not in left[0] | right[0]


def _new_axes(node: ast.expr) -> tuple[set[int], int] | None:
    """The axes that `x[:, None, :]` adds, and the number of its entries; None for any other expression."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return None
    parts = node.slice.elts
    new = {i for i, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is None}
    plain = all(isinstance(part, ast.Slice) for i, part in enumerate(parts) if i not in new)
    return (new, len(parts)) if plain else None
