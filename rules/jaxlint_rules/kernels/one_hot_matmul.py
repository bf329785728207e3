"""Row lookups by a product with a one-hot matrix."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array
from jaxlint.finding import Severity


class OneHotMatmul(Rule):
    """A matrix product with a one-hot matrix looks up rows.

    ## What it does
    Finds `jax.nn.one_hot(indices, n) @ table`.

    ## Why is this bad?
    The product multiplies by zeros and writes the one-hot matrix to memory: `n` times the work of
    an index.

    ## Example
    ```python
    rows = jax.nn.one_hot(tokens, vocabulary) @ embedding
    ```

    ## Use instead
    ```python
    rows = embedding[tokens]
    ```

    ## Fix safety
    There is no automatic fix: for an index out of bounds, the product returns a row of zeros and
    indexing returns the last row.

    ## When not to fix
    Keep it on TPUs, where a product with a small one-hot matrix can be faster than a gather, and if
    the table is sharded. The finding is advice (`info`).

    ## References
    - [jax.nn.one_hot](https://docs.jax.dev/en/latest/_autosummary/jax.nn.one_hot.html)
    """

    code = "JAX1305"
    name = "one-hot-matmul"
    category = "kernels"
    severity = Severity.INFO

    @concerns("matmul", "dot")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name not in ("matmul", "dot") or not operation.args or report.module.is_test:
            return
        first = operation.args[0]
        made = first.made if isinstance(first, Array) else None
        if made is not None and made.name in ("one_hot", "jax.nn.one_hot"):
            report(
                event.node,
                "a matrix product with a one-hot matrix mostly multiplies by zero; index the table instead",
                reason="indexing reads only the rows that are needed",
            )
