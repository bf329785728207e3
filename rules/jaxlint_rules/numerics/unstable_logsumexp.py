"""Logarithms of exponentials that overflow or underflow."""

from __future__ import annotations

import ast

from jaxlint.api import Frame, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import nodes_of
from jaxlint.api.values import Value
from jaxlint.finding import Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._names import last_name, passed, variable_given
from jaxlint_rules.numerics._exponentials import may_overflow, written_softmax
from jaxlint_rules.numerics._expressions import made, number, without_views


class UnstableLogsumexp(Rule):
    """The logarithm of an exponential overflows or underflows.

    ## What it does
    Finds `log(sum(exp(x)))`, `log(softmax(x))`, `log(sigmoid(x))`, `log(1 - sigmoid(x))` and
    `log(1 + exp(x))`.

    ## Why is this bad?
    `exp` overflows beyond 88 in float32, and `softmax` and `sigmoid` underflow to 0. The logarithm
    is then infinite and its gradient NaN, although the exact result is an ordinary number.

    ## Example
    ```python
    loss = -jnp.log(jax.nn.softmax(logits))[label]
    ```

    ## Use instead
    ```python
    loss = -jax.nn.log_softmax(logits)[label]
    ```
    For the other forms, use `jax.nn.logsumexp(x)`, `jax.nn.log_sigmoid(x)`,
    `jax.nn.log_sigmoid(-x)` and `jax.nn.softplus(x)`.

    ## Fix safety
    Unsafe: the last digits change. Each form becomes its stable function, with the axis of the sum.
    Variables that nothing else reads are removed.

    ## When not to fix
    Keep it if the argument is bounded. A small number added under the logarithm keeps the result
    finite and is not reported. `log(softmax(x))` from which `jax.random.categorical` draws is
    advice: what has the probability 0 is not drawn, and a draw has no gradient.

    ## References
    - [jax.nn.logsumexp](https://docs.jax.dev/en/latest/_autosummary/jax.nn.logsumexp.html)
    """

    code = "JAX1104"
    name = "unstable-logsumexp"
    category = "numerics"
    severity = Severity.WARNING
    fixable = "unsafe"

    @concerns("log")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.frame.module.is_test or event.operation.name != "log" or not event.operation.args:
            return
        found = _form(event.operation.args[0], event.frame)
        if found is not None:
            form, instead = found
            report(
                event.node,
                f"`{form}` overflows or underflows to infinity; use `{instead}`",
                reason="its inner exponential leaves the range of float32 before the logarithm undoes it",
                fix=propose(report, event.node, "stable-form", f"Use `{instead}`", safe=False),
                severity=Severity.INFO if "softmax" in instead and _is_only_drawn_from(event) else None,
            )


def _is_only_drawn_from(event: OperationEvent) -> bool:
    """Whether `jax.random.categorical` gets the logarithm, and nothing else does."""
    owner = event.frame.owner
    drawn = {
        part
        for call in nodes_of(owner, ast.Call)
        if last_name(call.func) == "categorical"
        for given in passed(call)
        for part in ast.walk(given)
    }
    if event.node in drawn:
        return True
    name = variable_given(
        next(
            (above for above in event.frame.module.ancestors(event.node) if isinstance(above, ast.stmt)), None
        )
    )
    read = [one for one in nodes_of(owner, ast.Name) if one.id == name and isinstance(one.ctx, ast.Load)]
    return bool(read) and drawn.issuperset(read)


def _form(value: Value, frame: Frame) -> tuple[str, str] | None:
    """The unstable form of a logarithm's argument, and its replacement."""
    inner = made(without_views(value))
    if inner is None:
        return None
    if inner.name == "softmax":
        return "log(softmax(x))", "jax.nn.log_softmax(x)"
    if written_softmax(inner) is not None:
        return "log(exp(x) / sum(exp(x)))", "jax.nn.log_softmax(x)"
    if inner.name in ("sigmoid", "logistic"):
        return "log(sigmoid(x))", "jax.nn.log_sigmoid(x)"
    if inner.name == "sum":
        terms = made(without_views(inner.args[0]), "exp")
        if terms is not None and may_overflow(terms.args[0], frame):
            return "log(sum(exp(x)))", "jax.nn.logsumexp(x)"
    if inner.name == "subtract" and number(inner.args[0]) == 1.0:
        if made(without_views(inner.args[1]), "sigmoid", "logistic") is not None:
            return "log(1 - sigmoid(x))", "jax.nn.log_sigmoid(-x)"
    if inner.name == "add":
        for one, other in (inner.args, inner.args[::-1]):
            exponential = made(without_views(other), "exp")
            if number(one) == 1.0 and exponential is not None and may_overflow(exponential.args[0], frame):
                return "log(1 + exp(x))", "jax.nn.softplus(x)"
    return None
