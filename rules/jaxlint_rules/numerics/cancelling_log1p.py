"""Logarithms and exponentials that lose precision near one."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.tables import is_integer
from jaxlint.api.values import UNKNOWN, Array, Value, dtype_of
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules.numerics._expressions import made, number


class CancellingLog1p(Rule):
    """`log(1 + x)` and `exp(x) - 1` lose precision for small `x`.

    ## What it does
    Finds `jnp.log(1 + x)`, `jnp.log(1 - x)` and `jnp.exp(x) - 1`.

    ## Why is this bad?
    In float32 `1 + 1e-8` is 1, so the logarithm is 0 instead of 1e-8. `log1p` and `expm1` are
    accurate there.

    ## Example
    ```python
    y = jnp.log(1 + x)
    ```

    ## Use instead
    ```python
    y = jnp.log1p(x)
    ```

    ## Fix safety
    Unsafe: the results change where `x` is small, because the lost digits come back.

    ## When not to fix
    Keep it if `x` is never small, such as a count, or is only compared with a threshold. The rule
    cannot know that, so it is in preview: of 20 findings in open repositories, 7 were right, 8
    wrong and 5 debatable.

    ## References
    - [jax.numpy.log1p](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.log1p.html)
    """

    code = "JAX1105"
    name = "cancelling-log1p"
    category = "numerics"
    severity = Severity.INFO
    preview = True
    fixable = "unsafe"

    @concerns("log", "subtract")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        form, instead = "", ""
        operand: Value = UNKNOWN
        if operation.name == "log" and operation.args:
            inner = made(operation.args[0], "add", "subtract")
            if inner is None or len(inner.args) != 2:
                return
            left, right = inner.args
            if inner.name == "add" and 1.0 in (number(left), number(right)):
                form, instead = "log(1 + x)", "jnp.log1p(x)"
                operand = left if number(right) == 1.0 else right
            elif inner.name == "subtract" and number(left) == 1.0 and isinstance(right, Array):
                form, instead, operand = "log(1 - x)", "jnp.log1p(-x)", right
        elif operation.name == "subtract" and len(operation.args) == 2:
            exponential = made(operation.args[0], "exp")
            if exponential is not None and number(operation.args[1]) == 1.0:
                form, instead, operand = "exp(x) - 1", "jnp.expm1(x)", exponential.args[0]
        if form and not is_integer(dtype_of(operand)):
            report(
                event.node,
                f"`{form}` loses precision for small `x`; use `{instead}`",
                reason="1 plus a number below 6e-8 is exactly 1 in float32",
                fix=propose(report, event.node, "stable-form", f"Use `{instead}`", safe=False),
            )
