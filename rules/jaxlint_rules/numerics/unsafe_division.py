"""Divisions by a norm whose gradient is NaN for a zero vector."""

from __future__ import annotations

from jaxlint.api import DifferentiatedEvent, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import same
from jaxlint.finding import Severity
from jaxlint_rules.numerics._expressions import has_own_gradient, made, without_views
from jaxlint_rules.numerics._needs import Needs


class UnsafeDivision(Rule):
    """The gradient of a division by a norm is NaN for a zero vector.

    ## What it does
    Finds `x / jnp.linalg.norm(x)` without an epsilon, in differentiated functions.

    ## Why is this bad?
    The norm has no derivative at zero: JAX returns NaN, also with an epsilon added after it. One
    such row makes the gradient of all parameters NaN.

    ## Example
    ```python
    unit = x / jnp.linalg.norm(x)
    ```

    ## Use instead
    ```python
    unit = x * jax.lax.rsqrt(jnp.sum(x**2) + 1e-12)
    ```

    ## Fix safety
    There is no automatic fix: you must choose the epsilon.

    ## When not to fix
    Keep it if the vector cannot be zero. That is so in most code, so this is advice: in ten findings
    of unseen projects no vector could be zero.

    ## References
    - [JAX: gradients contain NaN where using where](https://docs.jax.dev/en/latest/faq.html)
    """

    code = "JAX1107"
    name = "unsafe-division"
    category = "numerics"
    severity = Severity.INFO
    preview = True

    def __init__(self) -> None:
        self.found: list[tuple[OperationEvent, str, str]] = []
        self.needs = Needs()

    @concerns("divide")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test or has_own_gradient(event.frame):
            return
        operation = event.operation
        if operation.name == "divide" and len(operation.args) == 2:
            norm = made(without_views(operation.args[1]), "norm")
            if norm is not None and same(norm.args[0], operation.args[0]):
                message = "the gradient of this division by a norm is NaN for a zero vector; add epsilon under the root"
                self.found.append((event, message, "the norm has no gradient at zero"))
            return

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        self.needs.add(event)

    def finish(self, report: Reporter) -> None:
        for event, message, reason in self.found:
            report.event = event
            if report.differentiated(event.frame) and not self.needs.are_none_for(event.operation):
                report(event.node, message, reason=reason)
