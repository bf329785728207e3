"""Normalizations that take more passes over the data than needed."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Operation, Value
from jaxlint.finding import Severity
from jaxlint_rules.numerics._expressions import made


class NaiveNormalisation(Rule):
    """A normalization is written out by hand.

    ## What it does
    Finds `(x - x.mean(axis)) / jnp.sqrt(x.var(axis) + eps)` along an axis.

    ## Why is this bad?
    The variance is a second pass over the data that computes the mean again. Under `jit` the
    compiler fuses most of it, so the gain is small. Outside `jit` each operation is a separate
    kernel.

    ## Example
    ```python
    y = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6)
    ```

    ## Use instead
    ```python
    y = jax.nn.standardize(x, axis=-1, epsilon=1e-6)
    ```
    Or use a layer: `flax.linen.LayerNorm`, `equinox.nn.LayerNorm`. `jaxlint verify` measures the
    gain.

    ## Fix safety
    There is no automatic fix: rounding differs.

    ## When not to fix
    Keep it if you need the mean or the variance on their own. The finding is advice (`info`).

    ## References
    - [jax.nn.standardize](https://docs.jax.dev/en/latest/_autosummary/jax.nn.standardize.html)
    """

    code = "JAX1304"
    name = "naive-normalisation"
    category = "kernels"
    severity = Severity.INFO

    @concerns("divide", "multiply")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name not in ("divide", "multiply") or len(operation.args) != 2 or report.module.is_test:
            return
        centred = made(operation.args[0])
        if centred is None or centred.name != "subtract":
            return
        mean = made(centred.args[1])
        spread = _spread(operation.args[1])
        if mean is None or mean.name != "mean" or spread is None:
            return
        if _has_axis(mean) and _has_axis(spread):
            report(
                event.node,
                "this normalization takes several passes; use `jax.nn.standardize` or a layer",
                reason=f"it subtracts the mean of line {getattr(mean.node, 'lineno', '?')} and divides by the deviation",
            )


def _has_axis(operation: Operation) -> bool:
    return len(operation.args) > 1 or "axis" in operation.kwargs


def _spread(value: Value) -> Operation | None:
    """The variance or deviation in a denominator or an `rsqrt`."""
    for _ in range(4):
        operation = made(value)
        if operation is None:
            return None
        if operation.name in ("var", "std"):
            return operation
        if operation.name not in ("sqrt", "rsqrt", "add", "maximum"):
            return None
        value = operation.args[0]
    return None
