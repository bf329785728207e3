"""Norms and deviations that are guarded against zero after their root."""

from __future__ import annotations

from jaxlint.api import DifferentiatedEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, Operation, Value
from jaxlint.finding import Severity
from jaxlint_rules.numerics._expressions import (
    euclidean_vector,
    has_own_gradient,
    is_held_constant,
    made,
    number,
    without_views,
)
from jaxlint_rules.numerics._needs import Needs

_SMALL = 1e-3  # a number added to keep a divisor from being zero, not for its value
_ROOTS = ("norm", "sqrt", "std")
_GUARDS = ("add", "maximum", "clip")
_DROPPING = ("relu", "where", "select")  # their derivative selects, so NaN does not pass through at zero
_BOUNDED = frozenset({"add", "maximum", "clip", "exp", "softplus", "where", "select", "cosh"})


class GuardAfterRoot(Rule):
    """An epsilon added after a root does not protect its gradient.

    ## What it does
    Finds, in differentiated functions, an epsilon that is added to a root, not under it:
    `jnp.linalg.norm(x) + eps`, `jnp.maximum(jnp.linalg.norm(x), eps)`, `jnp.std(x) + eps`, where
    the gradient flows through `x`.

    ## Why is this bad?
    The epsilon suggests that the root may be zero. It makes the value finite, but the derivative of
    the root at zero is infinite. The chain rule multiplies it by zero, which is NaN, and one such
    row makes the gradient of all parameters NaN.

    ## Example
    ```python
    unit = x / (jnp.linalg.norm(x) + 1e-8)
    scaled = (x - x.mean()) / (x.std() + 1e-6)
    ```

    ## Use instead
    ```python
    unit = x * jax.lax.rsqrt(jnp.sum(x**2) + 1e-12)
    scaled = (x - x.mean()) * jax.lax.rsqrt(x.var() + 1e-12)
    ```

    ## Fix safety
    There is no automatic fix: the epsilon has another scale under the root.

    ## When not to fix
    Keep it if the argument cannot be zero (for `std`: constant); then you do not need the epsilon
    either.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where)
    """

    code = "JAX1110"
    name = "guard-after-root"
    category = "numerics"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, str]] = []  # with the root and its gradient, in words
        self.needs = Needs()

    @concerns(*_GUARDS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        root = next((kind for value in operation.args if (kind := _root(value))), "")
        if not root or event.frame.module.is_test or has_own_gradient(event.frame):
            return
        if is_held_constant(event.node, event.frame.module):
            return
        guards = [number(value) or 0.0 for value in (*operation.args, *operation.kwargs.values())]
        if any(0 < guard <= _SMALL for guard in guards):
            self.found.append((event, root))

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        self.needs.add(event)

    def finish(self, report: Reporter) -> None:
        for event, root in self.found:
            report.event = event
            if report.differentiated(event.frame) and not self.needs.are_none_for(event.operation):
                report(
                    event.node,
                    f"the gradient of {root} at zero, even with an epsilon after it; add the epsilon under the root",
                    reason="the derivative of a root is infinite at zero; the guard makes only the value finite",
                )


def _root(value: Value) -> str:
    """The root that a value is and that a gradient flows through, in words; "" if it cannot be zero."""
    operation = made(without_views(value), *_ROOTS)
    if operation is None:
        return ""
    inside = operation.args[0]
    if not isinstance(inside, Array) or inside.flow is None or made(inside, *_DROPPING) is not None:
        return ""
    if operation.name == "std":
        return "this deviation is NaN"
    if operation.name == "norm":
        return "this norm is NaN" if euclidean_vector(operation) is not None else ""
    return _of_root(operation)


def _of_root(root: Operation) -> str:
    """The same for a square root of a sum of squares, a variance or a mean: no other value is known to reach zero."""
    inside = made(without_views(root.args[0]))
    if inside is None or inside.name in _BOUNDED:
        return ""
    if inside.name == "mean" and euclidean_vector(root) is None and made(inside.args[0], *_SQUARES) is None:
        return "this root is infinite"  # the slope of the mean is not zero there
    return "this root is NaN" if inside.name in ("var", "mean") or euclidean_vector(root) is not None else ""


_SQUARES = ("square", "power", "multiply", "abs")
