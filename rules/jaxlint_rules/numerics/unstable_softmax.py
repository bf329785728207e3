"""Softmax without its maximum subtracted."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules.numerics._exponentials import may_overflow, written_softmax


class UnstableSoftmax(Rule):
    """A softmax without its maximum subtracted overflows.

    ## What it does
    Finds `exp(x) / sum(exp(x))` on arrays whose maximum is not subtracted.

    ## Why is this bad?
    `exp` overflows beyond 88 in float32 and bfloat16, and beyond 11 in float16. Infinity over
    infinity is NaN.

    ## Example
    ```python
    p = jnp.exp(x) / jnp.sum(jnp.exp(x), axis=-1, keepdims=True)
    ```

    ## Use instead
    ```python
    p = jax.nn.softmax(x, axis=-1)
    ```

    ## Fix safety
    Unsafe: the last digits change. The quotient becomes `jax.nn.softmax(x, axis=...)` if the sum
    visibly runs over the axis along which it divides. Variables that nothing else reads are
    removed.

    ## When not to fix
    Keep it if the argument is bounded above. Arguments that are negated, clipped or have something
    subtracted are not reported, nor are tests.

    ## References
    - [jax.nn.softmax](https://docs.jax.dev/en/latest/_autosummary/jax.nn.softmax.html)
    """

    code = "JAX1103"
    name = "unstable-softmax"
    category = "numerics"
    severity = Severity.WARNING
    fixable = "unsafe"

    @concerns("divide", "multiply")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test:
            return
        top = written_softmax(event.operation)
        if top is None:
            return
        if may_overflow(top.args[0], event.frame):
            report(
                event.node,
                "this softmax is NaN once an element exceeds 88 in float32; use `jax.nn.softmax`",
                reason="`exp(x) / sum(exp(x))` overflows to infinity over infinity unless the maximum is subtracted",
                fix=propose(report, event.node, "stable-form", "Use `jax.nn.softmax`", safe=False),
            )
