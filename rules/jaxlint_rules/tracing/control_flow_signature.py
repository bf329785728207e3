"""Functions and arguments that a control flow primitive cannot take."""

from __future__ import annotations

import ast

from jaxlint.api import BodyEvent, BranchesEvent, CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import cache, leaf_parameters, nodes_of, positional_parameters
from jaxlint.api.tables import strong
from jaxlint.api.values import (
    Array,
    BoundMethod,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
    differ,
    dtype_of,
    is_inexact,
    is_none,
    leaves_in,
    shape_of,
    symbolic_shape,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._signatures import signature_of
from jaxlint_rules.tracing._structures import describe


class ControlFlowSignature(Rule):
    """A function does not match the control flow primitive that calls it.

    ## What it does
    Finds calls of `lax.scan`, `lax.while_loop`, `lax.fori_loop`, `lax.cond`, `lax.switch` and
    `lax.map` with:

    - a function that does not accept the arguments that JAX passes to it; so with the function of
      `jax.pure_callback`, `io_callback` and `jax.debug.callback`;
    - a value where a function belongs;
    - a `while_loop` condition that does not return a scalar boolean;
    - a predicate that is not a scalar;
    - one integer and one float as the bounds of `fori_loop`;
    - a `switch` whose index is a float;
    - an `xs` of arrays with different numbers of rows;
    - an `xs` without rows, such as a Python number, a `range` or a list of numbers, or neither `xs`
      nor `length`.

    ## Why is this bad?
    JAX traces these functions before the program runs, so the call raises `TypeError` or
    `ValueError` from inside JAX, whichever branch would run.

    ## Example
    ```python
    lax.fori_loop(0, 10, lambda state: state * 2, x)
    lax.while_loop(lambda v: v > 0, lambda v: v - 1, vector)
    ```

    ## Use instead
    ```python
    lax.fori_loop(0, 10, lambda i, state: state * 2, x)
    lax.while_loop(lambda v: jnp.any(v > 0), lambda v: v - 1, vector)
    ```
    The body of a scan takes the carry and one slice of `xs`, and returns a pair. All branches of
    `cond` and `switch` take all operands. Reduce a condition to a scalar with `jnp.all` or
    `jnp.any`.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Functions whose signature is unknown or takes `*args` are not reported.

    ## References
    - [JAX: structured control flow primitives](https://docs.jax.dev/en/latest/control-flow.html#structured-control-flow-primitives)
    """

    code = "JAX115"
    name = "control-flow-signature"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    def on_body(self, event: BodyEvent, report: Reporter) -> None:
        if event.is_guarded(convention=False):
            return
        if _is_data(event.body):
            self.say(
                event,
                report,
                f"{event.role} of `{event.api}` is {describe(event.body)}, which raises TypeError; pass a function",
            )
            return
        signature = signature_of(event.body, _decorators(event.body), called=True)
        wrong = signature.objection_to_count(event.count) if signature is not None else ""
        if wrong:
            passed = (
                "no arguments" if event.count == 0 else f"{event.count} argument{'s' * (event.count > 1)}"
            )
            self.say(
                event,
                report,
                f"`{event.api}` calls {event.role} with {passed}, which raises TypeError: it {wrong}",
            )
        elif event.role == "the condition":
            wrong = _no_boolean(event)
            if wrong:
                self.say(
                    event,
                    report,
                    f"`{event.api}` raises TypeError: its condition returns {wrong}; return a scalar bool",
                )

    def on_branches(self, event: BranchesEvent, report: Reporter) -> None:
        choice = event.choice
        if choice is None or event.is_guarded(convention=False) or event.frame.is_chosen_by_kind():
            return
        shape = shape_of(choice)
        if shape:
            self.say(
                event,
                report,
                f"the {'index' if event.api == 'lax.switch' else 'predicate'} of `{event.api}` has shape {shape}, which raises TypeError; pass a scalar",
            )
        elif event.api == "lax.switch" and isinstance(choice, Array) and _is_data(choice):
            if _kind(choice) == "float" or is_inexact(choice):
                self.say(
                    event,
                    report,
                    "the index of `lax.switch` is a float, which raises TypeError; make it an int32",
                )

    @concerns("jax.lax.scan", "jax.lax.map", "jax.lax.switch", "jax.lax.fori_loop")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        starred = isinstance(event.node, ast.Call) and any(
            isinstance(a, ast.Starred) for a in event.node.args
        )
        if starred or "**" in event.kwargs:
            return
        if event.name == "jax.lax.scan":
            if len(event.args) < 3 and event.kwargs.keys().isdisjoint({"xs", "length"}):
                if not event.is_guarded(convention=False):
                    self.say(
                        event,
                        report,
                        "`lax.scan` without `xs` or `length` raises ValueError; pass one of them",
                    )
            else:
                xs = argument(event, 2, "xs")
                wrong = _no_rows(xs, event.args[0], 1) if xs is not None and event.args else ""
                wrong = wrong or (_uneven_rows(xs, event.kwargs.get("length")) if xs is not None else "")
                if wrong and not event.is_guarded(convention=False):
                    self.say(event, report, f"the `xs` of `lax.scan` {wrong}")
        elif event.name == "jax.lax.map" and len(event.args) == 2:
            wrong = _no_rows(event.args[1], event.args[0], 0) or _uneven_rows(event.args[1], None)
            if wrong and not event.is_guarded(convention=False):
                self.say(event, report, f"the `xs` of `lax.map` {wrong}")
        elif event.name == "jax.lax.switch" and len(event.args) >= 2:
            listed = event.args[1]
            if isinstance(listed, Function) or (isinstance(listed, Array) and _is_data(listed)):
                if not event.is_guarded(convention=False):
                    self.say(
                        event,
                        report,
                        "the branches of `lax.switch` must be a list or tuple of functions; anything else raises TypeError",
                    )
        elif event.name == "jax.lax.fori_loop" and len(event.args) >= 2:
            kinds = {_kind(value) for value in event.args[:2]}
            if kinds == {"int", "float"} and not event.is_guarded(convention=False):
                self.say(
                    event,
                    report,
                    "`lax.fori_loop` with one integer and one float bound raises TypeError; make both integers",
                )

    def say(self, event: BodyEvent | BranchesEvent | CallEvent, report: Reporter, message: str) -> None:
        report(
            event.node,
            message,
            reason="JAX calls these functions once, with tracers, and checks what they return"
            if isinstance(event, BodyEvent)
            else "JAX checks the arguments of the call when it traces it",
        )


def _is_data(value: Value) -> bool:
    if isinstance(value, Array):
        return value.certain and not value.tree
    return isinstance(value, (NumpyArray, ListValue, TupleValue, DictValue)) or isinstance(
        constant(value), (int, float)
    )


def _decorators(value: Value) -> int:
    """The number of decorators on the innermost function, each of which may change its signature."""
    while isinstance(value, (Transformed, Partial, BoundMethod)):
        value = value.target if isinstance(value, Transformed) else value.function
    if isinstance(value, Instance):
        call = value.cls.lookup("__call__")
        return _decorators(call) if isinstance(call, (Function, Transformed)) else 1
    if not isinstance(value, Function) or isinstance(value.node, ast.Lambda):
        return 0
    return len(
        [d for d in value.node.decorator_list if ast.unparse(d) not in ("staticmethod", "classmethod")]
    )


def _no_boolean(event: BodyEvent) -> str:
    """The result of a condition that is not a boolean, in words, or ""."""
    result = event.result
    if is_none(result) or isinstance(result, (TupleValue, ListValue, DictValue)):
        return describe(result) if not isinstance(result, ListValue) or result.kind == "list" else ""
    dtype = strong(dtype_of(result))
    if isinstance(event.seen, Array) and event.given is not None:
        if isinstance(result, Array) and result.origin is event.seen.origin and result.origin is not None:
            dtype = dtype or strong(dtype_of(event.given))
    if isinstance(result, Static) and not isinstance(constant(result), (bool, int, float)):
        return ""
    if dtype and dtype != "bool":
        return f"{'an' if dtype.startswith('int') else 'a'} {dtype}"
    shape = shape_of(result)
    return f"booleans of shape {shape}" if shape else ""


def _kind(value: Value) -> str:
    dtype = strong(dtype_of(value))
    return "int" if dtype.startswith(("int", "uint")) else "float" if "float" in dtype else ""


def _no_rows(xs: Value, body: Value, position: int) -> str:
    """The leaves of `xs` that have no rows, or that the body treats as a row though they are a list of rows; or ""."""
    if isinstance(xs, ExternalObject) and xs.name == "builtins.range":
        return "is a `range`, which raises TypeError; pass `jnp.arange`"
    if _is_number(xs):
        return "is a Python number, which raises ValueError; pass an array to loop over its rows"
    if not isinstance(xs, (ListValue, TupleValue)) or (isinstance(xs, TupleValue) and xs.cls is not None):
        return ""
    name = "list" if isinstance(xs, ListValue) else "tuple"
    parts = xs.elements()
    if any(_is_number(part) for part in parts) and (xs.items is not None or len(parts) == 1):
        return f"is a {name} of numbers, which raises ValueError; pass an array: `jnp.array`"
    if parts and all(isinstance(part, DictValue) for part in parts) and isinstance(body, Function):
        parameters = positional_parameters(body.node)
        if len(parameters) > position and parameters[position].arg in _asked_by_key(body.node):
            return f"is a {name} of dicts: the body gets a {name} and raises TypeError; stack their leaves"
        return ""
    leaves = [part for part in parts if isinstance(part, Array) and part.certain and not part.tree]
    if not leaves or len(leaves) != len(parts) or not isinstance(body, Function):
        return ""
    parameters = positional_parameters(body.node)
    if len(parameters) > position and parameters[position].arg in leaf_parameters(body.node):
        return f"is a {name} of arrays, so the body gets a {name} of rows; `jnp.stack` it"
    return ""


def _uneven_rows(xs: Value, length: Value | None) -> str:
    """The leaves of `xs` whose numbers of rows certainly differ, from one another or from a known `length`; or ""."""
    leaves = [leaf for leaf in leaves_in(xs) or () if _is_data(leaf)]
    rows = [shape[0] for leaf in leaves if (shape := symbolic_shape(leaf))]
    odd = next((size for size in rows if differ(size, rows[0])), None)
    if odd is not None:
        if isinstance(odd, int) and isinstance(rows[0], int):
            return (
                f"has arrays of {rows[0]} and {odd} rows, which raises ValueError; give all the same number"
            )
        return "has arrays with different numbers of rows, which raises ValueError"
    asked = constant(length) if length is not None else None
    if rows and type(asked) is int and isinstance(rows[0], int) and asked != rows[0]:
        return f"has {rows[0]} row{'s' * (rows[0] != 1)}, but `length` is {asked}, which raises ValueError; drop `length`"
    return ""


def _is_number(value: Value) -> bool:
    return isinstance(value, Static) and (type(value.const) in (int, float) or value.kind in ("int", "float"))


@cache
def _asked_by_key(node: ast.AST) -> frozenset[str]:
    """Variables that the function indexes by a string, like dicts: `p["w"]`."""
    return frozenset(
        part.value.id
        for part in nodes_of(node, ast.Subscript)
        if isinstance(part.value, ast.Name)
        and isinstance(part.slice, ast.Constant)
        and isinstance(part.slice.value, str)
    )
