"""Attention written out instead of one fused function."""

from __future__ import annotations

from jaxlint.api import OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import Array, Operation, Value
from jaxlint.finding import Severity

_PRODUCTS = ("matmul", "dot", "einsum", "dot_general", "tensordot")
_BETWEEN = (
    "multiply",
    "divide",
    "where",
    "add",
    "subtract",
    "astype",
    "getitem",
    "transpose",
    "reshape",
    "swapaxes",
)


class NaiveAttention(Rule):
    """Attention is written out as two matrix products and a softmax.

    ## What it does
    Finds a product of queries and keys that goes through a softmax into a product with values.

    ## Why is this bad?
    The scores of all pairs of positions are written to memory and read again. Memory grows with the
    square of the sequence length, and for long sequences moving the scores takes most of the time.

    ## Example
    ```python
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(d)
    out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    ```

    ## Use instead
    ```python
    out = jax.nn.dot_product_attention(q, k, v, implementation="cudnn")
    ```
    Without `implementation`, the compiler chooses. `jaxlint verify` measures the gain.

    ## Fix safety
    `check` offers no fix: layouts and masks differ. `jaxlint verify --apply` writes the call if a
    run of the program shows a gain.

    ## When not to fix
    Keep it if you need the attention weights themselves, or if sequences are short. The finding is
    advice (`info`).

    ## References
    - [jax.nn.dot_product_attention](https://docs.jax.dev/en/latest/_autosummary/jax.nn.dot_product_attention.html)
    """

    code = "JAX1303"
    name = "naive-attention"
    category = "kernels"
    severity = Severity.INFO
    proof = "kernels"

    @concerns(*_PRODUCTS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if event.operation.name not in _PRODUCTS or report.module.is_test:
            return
        for operand in event.operation.args:
            weights = _behind(operand, "softmax")
            scores = _behind(weights.args[0], *_PRODUCTS) if weights is not None else None
            if scores is not None:
                report(
                    event.node,
                    "this attention materializes all scores; use `jax.nn.dot_product_attention`",
                    reason=f"the scores of line {getattr(scores.node, 'lineno', '?')} go through a softmax and a second matrix product",
                )
                return


def _behind(value: Value, *names: str) -> Operation | None:
    """The operation in `names` behind a value, through scaling, masks and casts."""
    for _ in range(6):
        made = value.made if isinstance(value, Array) else None
        if made is None or not made.args:
            return None
        if made.name in names:
            return made
        if made.name not in _BETWEEN:
            return None
        value = next(
            (arg for arg in made.args if isinstance(arg, Array) and arg.made is not None), made.args[0]
        )
    return None
