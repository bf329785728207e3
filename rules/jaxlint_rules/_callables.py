"""The project function behind a call or a transformed function."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame
from jaxlint.api.syntax import all_parameters, dotted
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import BoundMethod, ExternalObject, Function, Instance, Partial, Transformed, Value


def innermost(value: Value) -> Value:
    """The innermost value under transformations and partials."""
    while isinstance(value, (Transformed, Partial)):
        value = value.target if isinstance(value, Transformed) else value.function
    return value


def function_in(value: Value) -> Function | None:
    """The project function that runs under transformations, partials and bound methods."""
    value = innermost(value)
    if isinstance(value, BoundMethod):
        value = innermost(value.function)
    return value if isinstance(value, Function) else None


_GRADIENTS = frozenset({"grad", "value_and_grad"})


def vmap_called(event: CallEvent, through: frozenset[str] = _GRADIENTS) -> Transformed | None:
    """The `vmap` that gets the positional arguments of a call: the callee itself, or one under `jit` and gradients.

    `through`: the other kinds of transformations that pass on the number of arguments.
    """
    t = event.callee
    while isinstance(t, Transformed) and t.api != "jax.vmap":
        if t.kind not in through and t.kind not in JIT_KINDS:
            return None
        t = t.target
    return t if isinstance(t, Transformed) else None


def argument(call: CallEvent | ExternalObject, position: int, keyword: str) -> Value | None:
    """An argument of a call by position or keyword; None if the call passes neither."""
    return call.args[position] if position < len(call.args) else call.kwargs.get(keyword)


def function_called_with(callee: Value) -> tuple[Function, list[str]] | None:
    """The function that runs below transformations, and the names of its parameters; of a bound method without the first."""
    function = function_in(callee)
    if function is None:
        return None
    bound = isinstance(innermost(callee), BoundMethod)
    return function, [one.arg for one in all_parameters(function.node)][int(bound) :]


def given_values(event: CallEvent, node: ast.Call, names: list[str]) -> list[tuple[str, ast.expr, Value]]:
    """The parameters of these names that a call gives, by position or by name, each as it is written and its value."""
    keywords = [one for one in node.keywords if one.arg in event.kwargs]
    return [
        *zip(names, node.args, event.args, strict=False),
        *((one.arg, one.value, event.kwargs[one.arg]) for one in keywords if one.arg is not None),
    ]


def jitted_call(event: CallEvent) -> tuple[Transformed, ast.Call] | None:
    """The jitted function and the call, if code on the host, outside tests, calls one."""
    callee, node, frame = event.callee, event.node, event.frame
    if not isinstance(callee, Transformed) or callee.kind not in JIT_KINDS or not isinstance(node, ast.Call):
        return None
    return None if frame.stage.staged or frame.module.is_test else (callee, node)


def function_called(call: ast.Call, frame: Frame) -> Function | None:
    """The project function that a call names directly."""
    called = frame.value_of(call.func.id) if isinstance(call.func, ast.Name) else None
    return called if isinstance(called, Function) else None


def named_or_method(node: ast.expr, frame: Frame) -> Value | None:
    """The value of a callee: by its name, or as a method of an object in a variable."""
    owner, _, name = dotted(node).rpartition(".")
    value = frame.value_of(owner or name) if "." not in owner and name else None
    if owner:
        value = value.cls.lookup(name) if isinstance(value, Instance) else None
    return value.function if isinstance(value, BoundMethod) else value
