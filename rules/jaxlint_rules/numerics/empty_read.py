"""`jnp.empty` arrays that are read before they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import CarryEvent, Module, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.tables import ELEMENTWISE
from jaxlint.api.values import REDUCTIONS, UNKNOWN, Array, Operation, TupleValue, Value
from jaxlint.finding import Severity
from jaxlint_rules._names import updated_at

_UPDATES = frozenset({"add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply"})
_READS = frozenset({"matmul", "dot", "einsum", "concatenate", "stack"}) | ELEMENTWISE | REDUCTIONS


class EmptyRead(Rule):
    """`jnp.empty` is read before it is written.

    ## What it does
    Finds arrays from `jnp.empty` and `jnp.empty_like` that arithmetic, sums, products and updates
    such as `.at[...].add` read before anything is written to them.

    ## Why is this bad?
    The contents of such an array are undefined. They were zero up to JAX 0.10; since 0.11 they may
    be anything.

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
    Always fix it if the values matter. Arrays without elements, and arrays that `.at[...].set`
    writes first, are not reported.

    ## References
    - [jax.numpy.empty](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.empty.html)
    """

    code = "JAX1111"
    name = "empty-read"
    category = "numerics"
    severity = Severity.WARNING

    @concerns("at", *_READS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if not _reads(operation) or event.frame.is_in_test() or _is_set_first(operation, event.frame.module):
            return
        operands = operation.args[:1] if operation.name == "at" else operation.args
        for value in operands:
            if _is_empty(value):
                report(
                    operation.node,
                    "`jnp.empty` is read before it is written; use `jnp.zeros`",
                    reason="its contents are undefined, and since JAX 0.11 not always zero",
                )
                return

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        """A loop that starts with an empty array and uses it before writing to it."""
        result = event.result
        if event.api.endswith("scan"):
            result = result.items[0] if isinstance(result, TupleValue) and result.items else UNKNOWN
        for init, carry, after in _corresponding(event.init, event.carry, result):
            made = after.made
            if made is None or not _is_empty(init) or not _reads(made) or event.frame.is_in_test():
                continue
            if any(isinstance(value, Array) and value.origin is carry.origin for value in made.args):
                report(
                    made.node,
                    "`jnp.empty` is read before it is written; use `jnp.zeros`",
                    reason=f"`{event.api}` starts from it: its contents are undefined, and since JAX 0.11 not always zero",
                )


def _corresponding(init: Value, carry: Value, result: Value) -> Iterator[tuple[Array, Array, Array]]:
    """The arrays at one place of a carry: initially, inside the body, and in its result."""
    if isinstance(init, Array) and isinstance(carry, Array) and isinstance(result, Array):
        if carry.origin is not None:
            yield init, carry, result
    elif isinstance(init, TupleValue) and isinstance(carry, TupleValue) and isinstance(result, TupleValue):
        for parts in zip(init.items or (), carry.items or (), result.items or (), strict=False):
            yield from _corresponding(*parts)


def _reads(operation: Operation) -> bool:
    """Whether it uses the contents of its operands; `x.at[i].add(y)` does, `x.at[i].set(y)` does not."""
    if operation.name == "at":
        call = operation.node
        return isinstance(call, ast.Call) and _method(call.func) in _UPDATES
    return operation.name in _READS


def _is_set_first(operation: Operation, module: Module) -> bool:
    """`if first: x = x.at[i].set(y)`, `else: x = x.at[i].add(y)`: each element is written before it is added to."""
    node = operation.node
    name = _updated(node)
    for above in module.ancestors(node) if name else ():
        if isinstance(above, ast.If):
            sets = [call for part in (*above.body, *above.orelse) for call in nodes_of(part, ast.Call)]
            if any(_method(call.func) == "set" and _updated(call) == name for call in sets):
                return True
    return False


def _updated(call: ast.AST) -> str:
    """`x` in `x.at[i].add(y)`."""
    found = updated_at(call) if isinstance(call, ast.Call) else None
    return dotted(found[0]) if found is not None else ""


def _method(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _is_empty(value: Value) -> bool:
    if not isinstance(value, Array) or value.rowless or value.made is None:
        return False
    return value.made.name in ("empty", "empty_like")
