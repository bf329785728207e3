"""Cancelling sums that contain a matrix product at default precision."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import Operation, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules.numerics._expressions import made

_PRODUCTS = ("matmul", "dot", "einsum", "tensordot", "inner", "vdot")


class MatmulPrecision(Rule):
    """Squared distances use a matrix product at default precision.

    ## What it does
    Finds `|x|^2 + |y|^2 - 2 x @ y.T` where the product has no `precision` argument.

    ## Why is this bad?
    Recent GPUs compute float32 products in TF32, and TPUs in bfloat16 passes, with 8 to 11 bits of
    precision. The sum cancels: a small distance is the difference of large numbers, so it is noise
    or even negative, and its square root is NaN.

    ## Example
    ```python
    d2 = x2[:, None] + y2[None, :] - 2 * x @ y.T
    ```

    ## Use instead
    ```python
    d2 = x2[:, None] + y2[None, :] - 2 * jnp.matmul(x, y.T, precision="highest")
    d2 = jnp.maximum(d2, 0.0)
    ```

    ## Fix safety
    There is no automatic fix: higher precision costs time.

    ## When not to fix
    Keep it if only the order of large distances matters, or if `jax_default_matmul_precision` is
    set. The finding is advice (`info`).

    ## References
    - [jax.default_matmul_precision](https://docs.jax.dev/en/latest/_autosummary/jax.default_matmul_precision.html)
    """

    code = "JAX1005"
    name = "matmul-precision"
    category = "precision"
    severity = Severity.INFO

    @concerns("subtract")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name != "subtract" or len(operation.args) != 2 or report.module.is_test:
            return
        product = _doubled_product(operation.args[1])
        if product is None or "precision" in product.kwargs or not _has_square(operation.args[0]):
            return
        if "matmul_precision" in report.module.source.text:
            return
        report(
            event.node,
            "this difference of squares cancels, and its matmul is imprecise on GPU and TPU; pass `precision=`",
            reason=f"the product at line {getattr(product.node, 'lineno', '?')} has no `precision`",
        )


def _doubled_product(value: Value) -> Operation | None:
    """The matrix product in `2 * x @ y`."""
    operation = made(value)
    if operation is None:
        return None
    if operation.name == "multiply":
        for one, two in (operation.args, operation.args[::-1]):
            if constant(one) == 2:
                product = made(two)
                return product if product is not None and product.name in _PRODUCTS else None
    if operation.name == "matmul":
        left = made(operation.args[0])
        if left is not None and left.name == "multiply" and any(constant(arg) == 2 for arg in left.args):
            return operation
    return None


def _has_square(value: Value, depth: int = 5) -> bool:
    """Whether a sum of squares is among the terms."""
    operation = made(value)
    if operation is None or depth == 0:
        return False
    if operation.name == "sum":
        call = operation.node
        squared = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(squared, ast.BinOp):
            return isinstance(squared.op, (ast.Pow, ast.Mult))
        return isinstance(squared, ast.Call) and dotted(squared.func).endswith("square")
    if operation.name in ("add", "getitem", "expand_dims", "reshape", "transpose"):
        return any(_has_square(arg, depth - 1) for arg in operation.args)
    return False
