"""Decorators of libraries of which nothing is known: they may keep the functions that they get, or stage them."""

from __future__ import annotations

from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.staging.values import (
    External,
    ExternalObject,
    Partial,
    Unknown,
    Value,
)

# A name that a library's decorator gives to several functions, of which it chooses by what a call passes.
OVERLOADED = Unknown()
_STANDARD = frozenset(
    {"abc", "absl", "builtins", "contextlib", "dataclasses", "functools", "pytest", "typing", "unittest"}
)


def is_foreign(decorator: Value) -> bool:
    """Whether it is of a library of which nothing is known: it may keep the functions that it gets, or stage them."""
    return bool(name := name_of_decorator(decorator)) and name.partition(".")[0] not in _STANDARD.union(
        JAX_FAMILY
    )


def name_of_decorator(decorator: Value) -> str:
    """The qualified name of what a decorator is, or was made by; "" for one of the program."""
    applied = decorator.function if isinstance(decorator, Partial) else decorator
    return applied.name if isinstance(applied, (External, ExternalObject)) else ""
