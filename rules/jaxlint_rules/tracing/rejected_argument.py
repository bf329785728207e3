"""Arguments of a kind that a function certainly rejects: floats as indices, a shape where the key belongs."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Event, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import all_parameters, dotted
from jaxlint.api.tables import (
    ACCEPTED,
    BITS,
    FLOATS,
    KEY,
    ONE_DTYPE,
    OPERATORS,
    WITH_VALUE_ERROR,
    is_float,
    is_integer,
    strong,
)
from jaxlint.api.values import (
    SOME_FLOAT,
    Array,
    DictValue,
    Function,
    ListValue,
    NumpyArray,
    Operation,
    Static,
    TupleValue,
    Value,
    certain_dtype,
    constant,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules.tracing._trees import TREES, trees_apart

_ARITHMETIC = ("add", "subtract", "multiply", "divide", "power", "matmul")


class RejectedArgument(Rule):
    """A function rejects the kind or dtype of its argument.

    ## What it does
    Finds arguments that JAX or optax rejects:

    - floats where integers are needed: indices, segments, integer labels, operands of `&` and `~`;
    - integers where floats are needed: logits, probabilities, functions of `jax.lax`;
    - a shape, a number or an array of floats in the place of a PRNG key;
    - dicts in arithmetic with arrays and numbers, as in `params - 0.1 * grads`;
    - arrays of two dtypes in functions of `jax.lax` that convert nothing;
    - trees of different structure in `jax.tree.map` and in updates of optax: dicts with other keys,
      or all variables beside the gradient of a part of them.

    ## Why is this bad?
    The call always raises `TypeError` or `ValueError`. Often two arguments are swapped.

    ## Example
    ```python
    key = jax.random.key(0)
    w = jax.random.normal((3, 4), key)
    ```

    ## Use instead
    ```python
    key = jax.random.key(0)
    w = jax.random.normal(key, (3, 4))
    ```

    ## Fix safety
    There is no automatic fix: only you know which argument is wrong.

    ## When not to fix
    Always fix it: the call raises. Code that catches the exception is not reported.

    ## References
    - [JAX: type promotion](https://docs.jax.dev/en/latest/type_promotion.html)
    """

    code = "JAX126"
    name = "rejected-argument"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True

    @concerns(*ACCEPTED, *ONE_DTYPE, *TREES, callees=("ExternalMethod",), methods=("update",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if not isinstance(node, ast.Call) or any(isinstance(given, ast.Starred) for given in node.args):
            return
        found = _rejected(event) or _of_two_dtypes(event)
        apart = None if found else trees_apart(event, node)
        if apart and not _is_expected(event):
            message, reason = apart
            report(
                node,
                f"the trees have different structures, which raises ValueError: {message}",
                reason=reason,
            )
        if found and not _is_expected(event):
            message, reason = found
            error = "ValueError" if event.name in WITH_VALUE_ERROR and KEY not in message else "TypeError"
            report(node, f"`{dotted(node.func) or event.name}` raises {error}: {message}", reason=reason)

    @concerns(*OPERATORS, *_ARITHMETIC, "getitem")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if isinstance(event.node, ast.Call) or not all(map(_is_sure, operation.args)):
            return
        if operation.name in _ARITHMETIC:
            found = _with_dict(operation)
        else:
            found = _index(operation) if operation.name == "getitem" else _operands(operation)
        if found and not _is_expected(event):
            message, reason = found
            report(event.node, message, reason=reason)


def _is_expected(event: Event) -> bool:
    return event.is_caught() or event.is_guarded(convention=False)


def _is_sure(value: Value) -> bool:
    return value.certain and not (value.tree or value.mixed) if isinstance(value, Array) else True


def _rejected(event: CallEvent) -> tuple[str, str] | None:
    """Why the call fails, and how that is known, if an argument is of a kind that it rejects."""
    for position, keyword, kind in ACCEPTED.get(event.name, ()):
        value = argument(event, position, keyword)
        what = _other_kind(value, kind) if value is not None and _is_sure(value) else ""
        if what and not (kind == KEY and _is_said_to_be_key(event, position)):
            return f"`{keyword}` is {what}, not {kind}", _order(event, position, kind)
    return None


def _is_said_to_be_key(event: CallEvent, position: int) -> bool:
    """Whether the argument is a parameter that is annotated as a PRNG key; then the argument of a caller in
    another file is less certain.
    """
    node, function = event.node, event.frame.function
    if not isinstance(node, ast.Call) or position >= len(node.args) or function is None:
        return False
    name = dotted(node.args[position])
    annotations = [one.annotation for one in all_parameters(function.node) if one.arg == name]
    return any(one is not None and "Key" in ast.unparse(one) for one in annotations)


def _order(event: CallEvent, position: int, kind: str) -> str:
    """The hint that another argument is of the kind that belongs here."""
    for other, value in enumerate(event.args):
        fits = isinstance(value, Array) and value.role == "key" if kind == KEY else _has_kind(value, kind)
        rejects = next((k for p, _, k in ACCEPTED[event.name] if p == other), "")
        if other != position and fits and (kind == KEY or _other_kind(value, rejects)):
            return f"argument {other + 1} fits here: the arguments are swapped"
    return "JAX does not convert this argument"


def _has_kind(value: Value, kind: str) -> bool:
    dtype = certain_dtype(value)
    return is_integer(dtype) if kind != FLOATS else is_float(dtype)


def _other_kind(value: Value, kind: str) -> str:
    """What a value is, in words, if that is certainly not of the kind."""
    if kind == KEY:
        return _no_key(value)
    dtype = _dtype(value)
    floating = dtype == SOME_FLOAT or is_float(dtype)
    if not floating if kind == FLOATS else floating:
        return ("of floats" if dtype == SOME_FLOAT else strong(dtype)) if dtype else ""
    return ""


def _dtype(value: Value) -> str:
    """The certain dtype of an array or a Python number; "" for anything else."""
    dtype = certain_dtype(value) if isinstance(value, (Array, NumpyArray, Static)) else ""
    return dtype if dtype == SOME_FLOAT or dtype == "bool" or is_float(dtype) or is_integer(dtype) else ""


def _no_key(value: Value) -> str:
    if isinstance(value, (TupleValue, ListValue)):
        return "a tuple" if isinstance(value, TupleValue) else "a list"
    if isinstance(value, Function):
        return "a function"
    if isinstance(value, Static):
        const = constant(value)
        # None is often the default of a parameter that its callers pass.
        return f"`{const!r}`" if isinstance(const, (int, float)) else ""
    dtype = _dtype(value) if isinstance(value, Array) and value.role != "key" else ""
    return f"an array of {dtype}" if is_float(dtype) else ""


def _of_two_dtypes(event: CallEvent) -> tuple[str, str] | None:
    """The error that the arrays of a function without conversion have two kinds of dtype."""
    values = [event.args[n] for n in ONE_DTYPE.get(event.name, ()) if n < len(event.args)]
    dtypes = [strong(_dtype(value)) if _is_sure(value) else "" for value in values]
    floats = [dtype for dtype in dtypes if is_float(dtype)]
    others = [dtype for dtype in dtypes if is_integer(dtype)]
    if not floats or not others:
        return None
    return (
        f"{floats[0]} and {others[0]} are not converted",
        "functions of `jax.lax` need one dtype; `jax.numpy` promotes",
    )


def _with_dict(operation: Operation) -> tuple[str, str] | None:
    """`params - 0.1 * grads` of dicts: Python has no arithmetic of trees."""
    dicts = [value for value in operation.args if isinstance(value, DictValue)]
    others = [value for value in operation.args if isinstance(value, (Array, NumpyArray, Static))]
    if not dicts or not dicts[0].items or len(dicts) + len(others) != 2:
        return None
    if not others or not all(_dtype(value) or isinstance(value, (Array, NumpyArray)) for value in others):
        return None
    return (
        f"arithmetic of a dict and {'a number' if isinstance(others[0], Static) else 'an array'} raises TypeError; use `jax.tree.map`",
        f"one operand is a dict with the key {next(iter(dicts[0].items))!r}",
    )


def _index(operation: Operation) -> tuple[str, str] | None:
    """The message and the reason if an array is indexed by floats."""
    if len(operation.args) != 2 or not _dtype(operation.args[0]):
        return None
    index = operation.args[1]
    for part in index.elements() if isinstance(index, TupleValue) else (index,):
        what = _other_kind(part, BITS) if isinstance(part, (Array, NumpyArray)) and _is_sure(part) else ""
        if what:
            return (
                f"an index of {what.removeprefix('of ')} raises TypeError; indices must be integers or bools",
                "JAX does not round indices",
            )
    return None


def _operands(operation: Operation) -> tuple[str, str] | None:
    """The message and the reason if a bit operator receives floats."""
    for value in operation.args:
        what = _other_kind(value, OPERATORS[operation.name])
        if what:
            return (
                f"`{operation.name}` of {what.removeprefix('of ')} raises TypeError; it takes integers and bools",
                "bitwise operators are not defined for floats",
            )
    return None
