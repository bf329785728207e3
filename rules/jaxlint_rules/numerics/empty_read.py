"""What `jnp.empty` holds is read before it is written."""

from __future__ import annotations

import ast

from jaxlint.api import OperationEvent, Reporter, Rule
from jaxlint.api.tables import ELEMENTWISE
from jaxlint.api.values import REDUCTIONS, Array, Operation, Value
from jaxlint.finding import Severity

_UPDATES = frozenset({"add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply"})
_READS = frozenset({"matmul", "dot", "einsum", "concatenate", "stack"}) | ELEMENTWISE | REDUCTIONS


class EmptyRead(Rule):
    """`jnp.empty` is read before it is written.

    ## What it does
    Finds arrays of `jnp.empty` and `jnp.empty_like` that arithmetic, sums, products and updates such as `.at[...].add` read as
    they were made.

    ## Why is this bad?
    What such an array holds is not promised. It was zero up to JAX 0.10; since 0.11 it may be anything.

    ## Example
    ```python
    total = jnp.empty(4)
    for x in xs:
        total = total + x
    ```

    ## Use instead
    ```python
    total = jnp.zeros(4)
    for x in xs:
        total = total + x
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Never where the numbers matter. Arrays without elements, and those that `.at[...].set` writes first, are not reported.

    ## References
    - [jax.numpy.empty](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.empty.html)
    """

    code = "JAX1111"
    name = "empty-read"
    category = "numerics"
    severity = Severity.WARNING

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if not _reads(operation) or event.frame.is_in_test():
            return
        operands = operation.args[:1] if operation.name == "at" else operation.args
        for value in operands:
            if _is_empty(value):
                report(
                    operation.node,
                    "`jnp.empty` is read before it is written; use `jnp.zeros`",
                    reason="its contents are undefined, and since JAX 0.11 not zero",
                )
                return


def _reads(operation: Operation) -> bool:
    """Whether it computes with what its operands hold; `x.at[i].add(y)` does, `x.at[i].set(y)` does not."""
    if operation.name == "at":
        call = operation.node
        return isinstance(call, ast.Call) and _method(call.func) in _UPDATES
    return operation.name in _READS


def _method(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _is_empty(value: Value) -> bool:
    if not isinstance(value, Array) or value.rowless or value.made is None:
        return False
    return value.made.name in ("empty", "empty_like")
