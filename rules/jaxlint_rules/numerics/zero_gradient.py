"""Losses whose gradient is zero everywhere."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, OperationEvent, Reporter, Rule, ZeroGradientEvent, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import (
    Array,
    DictValue,
    ListValue,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
    short_source,
)
from jaxlint.finding import Severity

_GRADIENTS = frozenset({"jax.grad", "jax.value_and_grad"})
# Functions that are called with the gradient's arguments, of the same dtype.
_WRAPPING = frozenset({"jit", "vmap"})


class ZeroGradient(Rule):
    """The gradient is zero: the loss goes through a step function.

    ## What it does
    Finds functions under `jax.grad` and `value_and_grad` whose whole result comes from `argmax`,
    `round`, `sign`, `floor`, a comparison, a cast to integers or `stop_gradient`. Also finds
    gradients taken at an integer, `jax.grad(f)(2)`, and straight-through estimators without
    `stop_gradient`: `z + (q - z)` equals `q`, so no gradient reaches `z`.

    ## Why is this bad?
    The derivative of these operations is zero or undefined, so the gradient is zero everywhere and
    nothing is learned. JAX does not raise. A gradient at an integer raises `TypeError`.

    ## Example
    ```python
    def loss(params, x, y):
        predicted = jnp.argmax(model(params, x), axis=-1)
        return jnp.mean(predicted != y)
    ```

    ## Use instead
    ```python
    def loss(params, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(model(params, x), y).mean()
    ```
    For a step in the forward pass, use a straight-through estimator:
    `x + jax.lax.stop_gradient(jnp.round(x) - x)`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it in a test of the zero gradient itself.

    ## References
    - [JAX: stop_gradient and straight-through estimators](https://docs.jax.dev/en/latest/advanced-autodiff.html)
    """

    code = "JAX1108"
    name = "zero-gradient"
    category = "numerics"
    severity = Severity.WARNING

    def on_zero_gradient(self, event: ZeroGradientEvent, report: Reporter) -> None:
        if report.module.is_test or any(
            isinstance(a, Array) and _is_integer(a) for a in event.operation.args[:1]
        ):
            return
        what = f"`{event.transformed.label}`" if event.transformed is not None else "the function"
        if event.operation.name == "stop_gradient":
            report(
                event.node,
                f"the gradient of {what} is zero: `stop_gradient` is around all that depends on its argument",
                reason="nothing else in the result depends on the differentiated argument",
            )
            return
        report(
            event.node,
            f"the gradient of {what} is zero, because its result comes from `{event.operation.name}`; use a smooth loss",
            reason=f"the derivative of `{event.operation.name}` is zero or undefined everywhere",
        )

    @concerns("add")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        """`z + (q - z)`, which is `q`."""
        node = event.node
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or event.frame.is_in_test():
            return
        for kept, change in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(change, ast.BinOp) or not isinstance(change.op, ast.Sub) or not dotted(kept):
                continue
            if dotted(change.right) == dotted(kept) != dotted(change.left):
                other = short_source(change.left)
                report(
                    node,
                    f"no gradient reaches `{dotted(kept)}` here: this equals `{other}`; apply `stop_gradient` to the difference",
                    reason=f"`{dotted(kept)}` is added and subtracted; a straight-through estimator wraps `{short_source(change)}` in `jax.lax.stop_gradient`",
                )
                return

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """A gradient at an integer, also through `vmap` and `jit`."""
        gradient = event.callee
        while isinstance(gradient, Transformed) and gradient.kind in _WRAPPING:
            gradient = gradient.target
        if not isinstance(gradient, Transformed) or gradient.api not in _GRADIENTS:
            return
        if "allow_int" in gradient.options or report.module.is_test or event.is_caught():
            return
        position = constant(gradient.options["argnums"]) if "argnums" in gradient.options else 0
        if type(position) is not int or not 0 <= position < len(event.args):
            return
        if _holds_integers(event.args[position]):
            report(
                event.node,
                f"the gradient of `{gradient.label}` at an integer raises TypeError; pass a float",
                reason="JAX differentiates with respect to real and complex numbers only",
                severity=Severity.ERROR,
            )


def _holds_integers(value: Value, depth: int = 3) -> bool:
    """Whether a value is an integer, or a list, tuple or dict with an array of integers in it."""
    if not isinstance(value, (ListValue, TupleValue, DictValue)):
        return _is_integer(value)
    parts = value.elements() if depth else []
    return any(_holds_integers(part, depth - 1) for part in parts if not isinstance(part, Static))


def _is_integer(value: Value) -> bool:
    if isinstance(value, Static):
        return type(constant(value)) is int
    if not isinstance(value, Array) or not value.certain or value.tree or value.mixed:
        return False
    return value.dtype.startswith(("int", "uint"))
