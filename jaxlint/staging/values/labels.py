"""How messages name a function or an expression."""

from __future__ import annotations

import ast

from jaxlint.staging.values.objects import (
    BoundMethod,
    ClassValue,
    External,
    ExternalMethod,
    Function,
    Instance,
    Partial,
    Transformed,
)
from jaxlint.staging.values.plain import Value


def label_of(value: Value) -> str:
    """How a user would name a function."""
    if isinstance(value, Function):
        return value.qualname.rpartition("<locals>.")[2] if value.name != "<lambda>" else "<lambda>"
    if isinstance(value, BoundMethod):
        return label_of(value.function)
    if isinstance(value, (Partial,)):
        return label_of(value.function)
    if isinstance(value, Transformed):
        return value.label
    if isinstance(value, External):
        return value.name
    if isinstance(value, ExternalMethod):
        return value.name
    if isinstance(value, (Instance, ClassValue)):
        return value.cls.name if isinstance(value, Instance) else value.name
    return "the function"


def short_source(node: ast.AST) -> str:
    """The source of an expression, cut to a readable length."""
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:37]}..."
