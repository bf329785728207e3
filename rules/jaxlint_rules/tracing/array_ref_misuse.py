"""Refs of `jax.new_ref` that JAX refuses."""

from __future__ import annotations

import ast

from jaxlint.api import (
    BodyEvent,
    CallEvent,
    Event,
    Frame,
    OperationEvent,
    Reporter,
    Rule,
    StagedReturnEvent,
    StoreEvent,
    concerns,
)
from jaxlint.api.tables import ELEMENTWISE
from jaxlint.api.values import REDUCTIONS, Array, Transformed, Value, flow_in, parts_of
from jaxlint.finding import Severity

_DEPTH = 4
_STEPPING = ("jit", "vmap")


class ArrayRefMisuse(Rule):
    """A `jax.new_ref` Ref is used where JAX refuses it.

    ## What it does
    Finds these uses of a Ref made by `jax.new_ref`:

    - A jitted function, a loop body or a branch returns the Ref.
    - One call passes the same Ref twice.
    - A function under `vmap` writes to a Ref that is not one of its arguments.
    - A differentiated value is stored in a Ref from outside the function.
    - An array function or operator takes the Ref itself instead of its value.

    ## Why is this bad?
    Each of these raises an exception. A Ref cannot leave the function that JAX traces
    (`ValueError`). Two arguments for one Ref would alias each other (`ValueError`). A write from
    all rows of a `vmap` has no single result, and a gradient cannot flow through a captured Ref. A
    Ref is not an array, so `jnp.sin(ref)` raises `TypeError`.

    ## Example
    ```python
    @jax.jit
    def total(xs):
        acc = jax.new_ref(jnp.zeros(()))
        jax.lax.fori_loop(0, 9, lambda i, _: acc.__setitem__(..., acc[...] + xs[i]), None)
        return acc
    ```

    ## Use instead
    ```python
    @jax.jit
    def total(xs):
        acc = jax.new_ref(jnp.zeros(()))
        jax.lax.fori_loop(0, 9, lambda i, _: acc.__setitem__(..., acc[...] + xs[i]), None)
        return acc[...]
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the code raises.

    ## References
    - [JAX: array refs](https://docs.jax.dev/en/latest/array_refs.html)
    """

    code = "JAX118"
    name = "array-ref-misuse"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        if event.transformed.kind == "jit" and _holds_reference(event.value) and not event.is_caught():
            self.tell_returned(event.function.node, event.transformed.label, event, report)

    def on_body(self, event: BodyEvent, report: Reporter) -> None:
        if event.api.startswith("lax.") and _holds_reference(event.result) and not event.is_caught():
            self.tell_returned(event.node, event.api, event, report)

    def tell_returned(self, node: ast.AST, what: str, event: Event, report: Reporter) -> None:
        report(
            node,
            f"`{what}` cannot return a Ref: tracing raises ValueError; return its value, `ref[...]`",
            reason="a Ref made by `jax.new_ref` cannot leave the function that JAX traces",
        )

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if not isinstance(callee, Transformed) or callee.kind not in _STEPPING or event.is_caught():
            return
        values = (*event.args, *event.kwargs.values())
        given = [value.made for value in values if isinstance(value, Array) and value.is_reference]
        if len({id(made) for made in given}) < len(given):
            report(
                event.node,
                f"the same Ref is passed twice to `{callee.label}`, which raises ValueError; pass it once",
                reason="inside a traced function each Ref has one name",
            )

    def on_store(self, event: StoreEvent, report: Reporter) -> None:
        node = event.target
        if (
            not isinstance(event.base, Array)
            or not event.base.is_reference
            or not isinstance(node, ast.Subscript)
        ):
            return
        if not isinstance(node.value, ast.Name) or event.is_caught():
            return
        around = _scope_kind(node.value.id, event.frame)
        if around == "vmap":
            report(
                event.node,
                f"`vmap` raises an Exception: `{node.value.id}` has no batch axis; pass the Ref as a mapped argument",
                reason="each row would write to the same Ref",
            )
        elif around and flow_in([event.value]) is not None:
            report(
                event.node,
                f"storing a differentiated value in `{node.value.id}` raises an Exception; store `jax.lax.stop_gradient` of it",
                reason="no gradient is taken with respect to this Ref",
            )

    @concerns(*ELEMENTWISE, *REDUCTIONS)
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if any(_is_reference(value) for value in operation.args) and not event.is_caught():
            report(
                operation.node,
                "a Ref is not an array, and array functions raise TypeError; read its value with `ref[...]`",
                reason="`jax.new_ref` made this Ref",
            )


def _is_reference(value: Value) -> bool:
    return isinstance(value, Array) and value.is_reference


def _holds_reference(value: Value, depth: int = _DEPTH) -> bool:
    if _is_reference(value):
        return True
    return depth > 0 and any(_holds_reference(part, depth - 1) for part in parts_of(value))


def _scope_kind(name: str, frame: Frame) -> str:
    """The origin of a variable: "vmap" from outside a map, "closure" from another function, "" from its own."""
    found = frame.scope.lookup(name)
    if found is None or found[1] is frame.scope:
        return ""
    current: Frame | None = frame
    while current is not None and current.stage.kind == "vmap":
        if current.scope is found[1]:
            return "closure"
        current = current.caller
    return "vmap" if frame.stage.kind == "vmap" else "closure"
