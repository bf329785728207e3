"""Decorators of unknown libraries: they may store the functions that they receive, or trace them."""

from __future__ import annotations

from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.staging.values import (
    External,
    ExternalObject,
    Partial,
    Unknown,
    Value,
)

# A name shared by several functions, among which a library's decorator chooses by the arguments of a call.
OVERLOADED = Unknown()
_STANDARD = frozenset(
    {"abc", "absl", "builtins", "contextlib", "dataclasses", "functools", "pytest", "typing", "unittest"}
)


def is_foreign(decorator: Value) -> bool:
    """Whether it comes from an unknown library: it may store the functions that it receives, or trace them."""
    return bool(name := name_of_decorator(decorator)) and name.partition(".")[0] not in _STANDARD.union(
        JAX_FAMILY
    )


def name_of_decorator(decorator: Value) -> str:
    """The qualified name of a decorator or of the function that returned it; "" if the program defines it."""
    applied = decorator.function if isinstance(decorator, Partial) else decorator
    return applied.name if isinstance(applied, (External, ExternalObject)) else ""
