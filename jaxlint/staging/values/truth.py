"""The truth of values, and the facts that follow from it."""

from __future__ import annotations

from jaxlint.staging.values.objects import (
    BoundMethod,
    ClassValue,
    External,
    Function,
    ModuleValue,
    Partial,
    Transformed,
    TupleValue,
)
from jaxlint.staging.values.plain import MISSING, Static, Unknown, Value


def truth(value: Value) -> bool | None:
    """The result of `bool(value)`, if it is certain."""
    if isinstance(value, Static):
        return value.truth if value.const is MISSING else bool(value.const)
    if type(value) is Unknown:
        return value.true or None
    if type(value) is TupleValue:
        return bool(value.items) if value.items is not None else None
    if type(value) is External:
        return None if _is_setting(value.name) else True
    if isinstance(value, (Function, BoundMethod, Partial, ClassValue, Transformed, ModuleValue)):
        return True
    return None


def _is_setting(name: str) -> bool:
    """Whether the name of a library member is that of a constant, flag or option, not of a function or class."""
    _, *parts = name.split(".")
    return "config" in parts[:-1] or any(part.isupper() for part in parts)


def decided(value: Value, outcome: bool) -> Value:
    """A plain or unknown value whose truth a test has decided."""
    if type(value) is Static and value.const is MISSING:
        return Static(kind=value.kind, one_of=value.one_of, truth=outcome)
    if type(value) is Unknown:
        return Unknown(value.origin, value.flow, True, value.made_of) if outcome else Static(truth=False)
    return value
