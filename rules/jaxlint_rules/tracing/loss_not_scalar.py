"""Functions under `jax.grad` that return something other than a scalar."""

from __future__ import annotations

import ast
from typing import TypeGuard

from jaxlint.api import DifferentiatedEvent, Reporter, Rule
from jaxlint.api.values import (
    ELEMENTWISE,
    Array,
    DictValue,
    ListValue,
    TupleValue,
    Value,
    constant,
    shape_text,
    symbolic_shape,
)
from jaxlint.finding import Severity


class LossNotScalar(Rule):
    """A function under `jax.grad` does not return a scalar.

    ## What it does
    Finds calls of `jax.grad(f)` and `jax.value_and_grad(f)` where `f` returns one of these:

    - a tuple, list or dict, without `has_aux=True`;
    - an array with axes;
    - anything but a pair of loss and aux, with `has_aux=True`.

    ## Why is this bad?
    JAX takes gradients of scalars only. It raises
    `TypeError: Gradient only defined for scalar-output functions`, and with `has_aux=True`
    `TypeError: expected function with aux output to return a two-element tuple`.

    ## Example
    ```python
    def loss_fn(params, x, y):
        logits = model(params, x)
        return cross_entropy(logits, y).mean(), {"logits": logits}

    (loss, aux), grads = jax.value_and_grad(loss_fn)(params, x, y)
    ```

    ## Use instead
    ```python
    (loss, aux), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, y)
    ```
    Reduce an array to one number with `.mean()` or `.sum()`; `jax.jacobian` differentiates arrays.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the call raises.

    ## References
    - [jax.value_and_grad](https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html)
    """

    code = "JAX124"
    name = "loss-not-scalar"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_differentiated(self, event: DifferentiatedEvent, report: Reporter) -> None:
        t = event.transformed
        if event.is_caught() or event.is_guarded(convention=False) or "**" in t.options or _is_starred(event):
            return
        has_aux = constant(t.options["has_aux"]) if "has_aux" in t.options else False
        if has_aux is True:
            wrong, advice = _no_pair(event.result), "return a pair"
        elif has_aux is False:
            wrong, advice = _no_scalar(event.result)
        else:
            return
        if wrong:
            report(
                event.node,
                f"`{t.label}` returns {wrong}, so `{t.api}` raises TypeError; {advice}",
                reason="with `has_aux=True` the function returns a pair: the loss, and what is not differentiated"
                if has_aux
                else "JAX takes gradients of scalars only",
                severity=Severity.WARNING if isinstance(event.result, Array) and not has_aux else None,
            )


def _no_scalar(result: Value) -> tuple[str, str]:
    """What a function returns instead of a scalar, and what to do about it; empty where it may be one."""
    if isinstance(result, TupleValue) and result.items is not None:
        advice = "pass `has_aux=True`"
        pair = advice if len(result.items) == 2 else f"return `(loss, aux)` and {advice}"
        return f"a tuple of {len(result.items)}", pair
    if isinstance(result, DictValue) and result.items:
        return "a dict", "return the loss"
    if isinstance(result, ListValue) and result.kind == "list" and result.items:
        return "a list", "return the loss"
    if _is_one_array(result):
        shape = _shape_within(result)
        if shape:
            return f"an array of shape {shape}", "take its `.mean()` or `.sum()`"
    return "", ""


_BROADCASTING = frozenset({"add", "subtract", "multiply", "divide", "maximum", "minimum"})


def _shape_within(value: Value, depth: int = 6) -> str:
    """The shape of an array, or of an array in it: broadcasting with one of unknown shape removes no axis."""
    shape = symbolic_shape(value)
    made = value.made if isinstance(value, Array) else None
    if shape is not None:
        return shape_text(shape) if shape else ""
    if made is None or depth == 0 or made.name not in ELEMENTWISE | _BROADCASTING:
        return ""
    parts = (_shape_within(part, depth - 1) for part in made.args if _is_one_array(part))
    return next(filter(None, parts), "")


def _no_pair(result: Value) -> str:
    """What a function with `has_aux=True` returns instead of a pair; empty where it may be one."""
    if isinstance(result, TupleValue) and result.items is not None and len(result.items) != 2:
        return f"a tuple of {len(result.items)}, not of 2"
    return "one array" if _is_one_array(result) and result.made is not None else ""


def _is_one_array(result: Value) -> TypeGuard[Array]:
    return isinstance(result, Array) and result.certain and not result.tree and not result.mixed


def _is_starred(event: DifferentiatedEvent) -> bool:
    """Whether the call passes `*args`, which makes the taken paths of the function less certain."""
    node = event.node
    return isinstance(node, ast.Call) and any(isinstance(given, ast.Starred) for given in node.args)
