"""Indices that certainly leave their axis: numbers, and arrays of integers whose range is known."""

from __future__ import annotations

from jaxlint.staging.shapes.applied import Shape
from jaxlint.staging.shapes.indexing import is_mask
from jaxlint.staging.shapes.ranges import occurring, range_of
from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.objects import ExternalObject, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value, is_none
from jaxlint.staging.values.sizes import Size


def beyond(index: Value | None, least: int, size: Size | None) -> int | None:
    """The number outside of `least`, ..., `size` - 1 that an index certainly reaches; None if there is none."""
    if not isinstance(size, int):
        return None
    found = range_of(index)
    if found is None:
        numbers = occurring(index)
        farthest = max(numbers, default=least), min(numbers, default=least)
        return farthest[0] if farthest[0] >= size else farthest[1] if farthest[1] < least else None
    if found.high >= size:
        return found.high
    return found.low if found.low < least else None


def out_of_range(whole: Shape, index: Value) -> tuple[int, int, int] | None:
    """An index that is certainly out of range: the index, the axis and its size. JAX clamps it to the last element."""
    parts = index.items if isinstance(index, TupleValue) else [index]
    if parts is None:
        return None
    axis = 0
    for part in parts:
        if constant(part) is ... or (is_mask(part) and axis < len(whole)):
            return None
        if is_none(part):
            continue
        if axis >= len(whole):
            return None
        size = whole[axis]
        known = isinstance(part, (Static, Array, NumpyArray)) and constant(part) is not True
        reached = beyond(part, -size, size) if known and isinstance(size, int) else None
        if reached is not None and isinstance(size, int):
            return reached, axis, size
        if not known and not isinstance(part, ExternalObject):
            return None  # perhaps it takes several axes
        axis += 1
    return None
