"""Transformations of the result of a call, and calls of an array."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import Array
from jaxlint.finding import Severity


class TransformOfResult(Rule):
    """An array is transformed or called as if it were a function.

    ## What it does
    Finds `jax.jit(f(x))`, `jax.grad(loss(w))` and `jax.grad(f)(x)(y)`.

    ## Why is this bad?
    `f(x)` is an array, not a function: `TypeError: Expected a callable value`, or
    `object is not callable`.

    ## Example
    ```python
    y = jax.jit(f(x))
    ```

    ## Use instead
    ```python
    y = jax.jit(f)(x)
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [jax.jit](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX803"
    name = "transform-of-result"
    category = "api"
    severity = Severity.ERROR

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        target = event.transformed.target
        if _is_a_function_too(event):
            return
        if isinstance(target, Array) and target.certain and not target.tree and not event.is_caught():
            report(
                event.node,
                f"`{event.transformed.api}` of an array raises TypeError; pass the function itself",
                reason="only a function can be transformed",
            )

    @concerns(callees=("Array",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        if not isinstance(callee, Array) or not callee.certain or event.is_caught():
            return
        again = isinstance(event.node, ast.Call) and isinstance(event.node.func, ast.Call)
        if callee.role == "grad" and again:
            report(
                event.node,
                "calling an array raises TypeError; call the function that `jax.grad` returns",
                reason="this value is a gradient, already evaluated",
            )


def _is_a_function_too(event: TransformEvent) -> bool:
    """Whether a function transforms a global that is a function first, and an array in a later cell: which of them it is depends on
    when it is called."""
    node, module = event.node, event.frame.module
    name = dotted(node.args[0]) if isinstance(node, ast.Call) and node.args else ""
    return event.frame.function is not None and any(
        one.name == name and module.parents.get(one) is module.tree
        for one in nodes_of(module.tree, ast.FunctionDef)
    )
