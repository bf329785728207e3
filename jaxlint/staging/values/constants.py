"""Constant options of transformations: argument names and positions."""

from __future__ import annotations

from jaxlint.staging.values.objects import TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Value


def constant_names(value: Value | None) -> tuple[str, ...] | None:
    """Argument names from a string or a sequence of strings; None if unknown."""
    if value is None:
        return ()
    const = constant(value)
    if isinstance(const, str):
        return (const,)
    if const is None:
        return ()
    if isinstance(const, tuple) and all(isinstance(c, str) for c in const):
        return const
    return None


def constant_numbers(value: Value | None) -> tuple[int, ...] | None:
    """Argument positions from an int or a sequence of ints; None if unknown."""
    if value is None:
        return ()
    const = constant(value)
    if isinstance(const, bool):
        return None
    if isinstance(const, int):
        return (const,)
    if const is None:
        return ()
    if isinstance(const, tuple) and all(isinstance(c, int) for c in const):
        return const
    return None


def first_numbers(value: Value | None) -> tuple[int, ...]:
    """The known leading positions of a tuple whose rest is unknown: 0 in `(0,) + rest`."""
    if not isinstance(value, TupleValue):
        return ()
    known = map(constant, value.head)
    return tuple(number for number in known if isinstance(number, int) and not isinstance(number, bool))
