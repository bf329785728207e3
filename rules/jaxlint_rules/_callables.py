"""What a call, or a function that was transformed, comes down to in the project."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame
from jaxlint.api.syntax import dotted
from jaxlint.api.values import BoundMethod, ExternalObject, Function, Instance, Partial, Transformed, Value


def innermost(value: Value) -> Value:
    """What transformations and partials were made of, in the end."""
    while isinstance(value, (Transformed, Partial)):
        value = value.target if isinstance(value, Transformed) else value.function
    return value


def argument(call: CallEvent | ExternalObject, position: int, keyword: str) -> Value | None:
    """What a call passes by position or by keyword; None where it passes neither."""
    return call.args[position] if position < len(call.args) else call.kwargs.get(keyword)


def function_called(call: ast.Call, frame: Frame) -> Function | None:
    """The function of the project that a call is of, by its name alone."""
    called = frame.value_of(call.func.id) if isinstance(call.func, ast.Name) else None
    return called if isinstance(called, Function) else None


def named_or_method(node: ast.expr, frame: Frame) -> Value | None:
    """What `node`, which is called, stands for: by its name, or as a method of an object that a name holds."""
    owner, _, name = dotted(node).rpartition(".")
    value = frame.value_of(owner or name) if "." not in owner and name else None
    if owner:
        value = value.cls.lookup(name) if isinstance(value, Instance) else None
    return value.function if isinstance(value, BoundMethod) else value
