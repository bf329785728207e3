"""The sizes of the arrays that a call passes: calls with other sizes are evaluated on their own, up to a bound."""

from __future__ import annotations

from jaxlint.staging.shapes.exact import Numbers, numbers_of
from jaxlint.staging.values import (
    Array,
    DictValue,
    DType,
    External,
    Function,
    ListValue,
    NumpyArray,
    Static,
    TupleValue,
    Value,
)

MAX_VARIANTS = 6  # evaluations of one function for other sizes alone
_MOST = 24  # arrays that are compared
# What the context of a call tells apart by itself.
_TOLD_APART = frozenset({Static, DType, External, Function})

Sizes = tuple[Numbers | None, ...]


def sizes_of_call(bound: dict[str, Value]) -> Sizes:
    """The shape of each array among the arguments; None for one with an unknown size, and for what may hold more."""
    found: list[Numbers | None] = []
    for value in bound.values():
        _collect(value, found, 2)
        if len(found) > _MOST:
            return (None,)
    return tuple(found)


def _collect(value: Value, found: list[Numbers | None], depth: int) -> None:
    kind = type(value)
    if kind in _TOLD_APART or len(found) > _MOST:
        return
    if isinstance(value, Array):
        if value.role != "key":
            found.append(None if value.tree else numbers_of(value))
    elif isinstance(value, NumpyArray):
        found.append(numbers_of(value))
    elif isinstance(value, (TupleValue, ListValue)) and value.items is not None and depth > 0:
        for part in value.items:
            _collect(part, found, depth - 1)
    elif isinstance(value, DictValue) and value.element is None and depth > 0:
        for part in value.items.values():
            _collect(part, found, depth - 1)
    else:
        found.append(None)


def are_known(sizes: Sizes) -> bool:
    return any(numbers is not None for numbers in sizes)
