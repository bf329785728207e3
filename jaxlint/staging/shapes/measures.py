"""Python integers as sizes: what the program computes from the dimensions of arrays."""

from __future__ import annotations

from collections.abc import Callable

from jaxlint.staging.values.arrays import Array, Form, NumpyArray, Shape
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.plain import MISSING, Measured, StarArgument, Static, Unknown, Value
from jaxlint.staging.values.sizes import (
    Size,
    add,
    divide,
    multiply,
    negative,
    product,
    remainder,
    subtract,
    symbol,
)

ShapeOf = Callable[[Value], Shape | None]
_ARITHMETIC: dict[str, Callable[[Size, Size], Size | None]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "//": divide,
    "%": remainder,
}


def size_of(value: Value, of: ShapeOf) -> Size | None:
    """The integer behind a value; a symbol for an unknown parameter or attribute; otherwise None."""
    if isinstance(value, Static):
        if type(value.const) is int:
            return value.const
        if value.const is not MISSING or value.measured is None:
            return None
        return _measured(value.measured, of)
    if isinstance(value, Unknown) and value.measured is not None:
        return _measured(value.measured, of)
    if isinstance(value, Unknown) and value.origin is not None and not isinstance(value, StarArgument):
        origin = value.origin
        if origin.size is None:
            origin.size = symbol(origin.name or "?")
        return origin.size
    return None


def _measured(measured: Measured, of: ShapeOf) -> Size | None:
    how = measured.how
    if measured.endless:
        return None
    if how in _ARITHMETIC:
        sides = [size_of(part, of) for part in measured.of]
        left, right = sides[0], sides[-1]
        if left is None or right is None:
            return None
        return _ARITHMETIC[how](left, right) if len(sides) == 2 else negative(left)
    if how == "named":
        return size_of(measured.of[0], of)
    if how == "prod":
        found = sizes_in(measured.of[0], of)
        return None if found is None else product(found)
    array = measured.of[0]
    if how == "axis":
        assert measured.start is not None
        return axis_of(array, of, measured.start)
    shape = of(array)
    if shape is None:
        return None
    return len(shape) if how == "rank" else product(shape)


def _keys_split(value: Value) -> Value | None:
    """How many keys `jax.random.split` gave; None for any other value, and for several axes of keys."""
    made = value.made if isinstance(value, Array) and not value.tree else None
    if made is None or made.full != "jax.random.split":
        return None
    count = made.operand(1, "num") or Static(2)
    return count if isinstance(count, (Static, Unknown)) else None


def axis_of(array: Value, of: ShapeOf, axis: int) -> Size | None:
    """The size of one axis of an array, even if the rest of its shape is unknown.

    Keys have one row for each that was split, whatever the form of a key is.
    """
    shape = of(array)
    if shape is not None:
        return shape[axis] if -len(shape) <= axis < len(shape) else None
    if not isinstance(array, (Array, NumpyArray)) or (isinstance(array, Array) and array.tree):
        return None
    count = _keys_split(array) if axis == 0 else None
    keys = None if count is None else size_of(count, of)
    if keys is not None:
        return keys
    if array.form is None:
        array.form = Form()
    return symbol_of_axis(array, array.form, axis)


def symbol_of_axis(array: Array | NumpyArray, form: Form, axis: int) -> Size:
    """The symbol of an axis of an array with unknown shape, named by the program or after the array."""
    if form.rank is not None:
        axis %= form.rank
    known = form.symbols.get(axis)
    if known is None and form.rank is not None:
        known = form.symbols.get(axis - form.rank)
    if known is None:
        name = form.names.get(axis)
        if name is None and form.rank is not None:
            name = form.names.get(axis - form.rank)
        if name is None:
            origin = array.origin if isinstance(array, Array) else None
            name = f"{origin.name}.{axis}" if origin is not None else "?"
        known = form.symbols[axis] = symbol(name)
    return known


def sizes_in(value: Value, of: ShapeOf) -> Shape | None:
    """The sizes in a shape argument. An unknown size is a new symbol."""
    if isinstance(value, Static):
        found = size_of(value, of)
        if found is None and value.kind == "int":
            found = symbol("?")
        return None if found is None else (found,)
    if not isinstance(value, (TupleValue, ListValue)):
        return None
    if isinstance(value, TupleValue) and value.measured is not None:
        return _measured_tuple(value.measured, of)
    if value.items is None:
        return None
    sizes: list[Size] = []
    for item in value.items:
        found = size_of(item, of)
        if isinstance(item, (TupleValue, ListValue, StarArgument)):
            return None
        sizes.append(symbol("?") if found is None else found)
    return tuple(sizes)


def _measured_tuple(measured: Measured, of: ShapeOf) -> Shape | None:
    if measured.endless:
        return None
    if measured.how == "joined":
        # An unknown number in it is still a size.
        parts = [
            (symbol("?") if (size := size_of(part, of)) is None else size,)
            if isinstance(part, Static)
            else sizes_in(part, of)
            for part in measured.of
        ]
        known = [part for part in parts if part is not None]
        return tuple(size for part in known for size in part) if len(known) == len(parts) else None
    shape = of(measured.of[0])
    return None if shape is None else shape[measured.start : measured.stop]
