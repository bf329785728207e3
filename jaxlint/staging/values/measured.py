"""Numbers and tuples that come from array shapes. Their values are computed on demand."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jaxlint.staging.values.arrays import Array, Form, NumpyArray
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import UNKNOWN, Measured, Origin, Static, Unknown, Value
from jaxlint.staging.values.sizes import Size, symbol
from jaxlint.syntax.facts import asks_for_size, name_loads

MEASURES = {"shape": "shape", "ndim": "rank", "size": "size"}
_INTEGER_OPERATORS = frozenset({"+", "-", "*", "//", "%"})


def measure(array: Array | NumpyArray, attribute: str) -> Value:
    """`x.shape`, `x.ndim` or `x.size`."""
    measured = Measured(MEASURES[attribute], (array,))
    if attribute == "shape":
        return TupleValue(None, Static(kind="int"), measured=measured)
    # The rank and the size of a NumPy array are plain numbers.
    return Static(kind="int" if isinstance(array, Array) else "", measured=measured)


def length_of(array: Array | NumpyArray) -> Static:
    """`len(x)`."""
    return Static(kind="int", measured=Measured("axis", (array,), 0))


def part_of_shape(shape: TupleValue, index: Value) -> Value:
    """`x.shape[1]`, or a slice of a shape."""
    measured = shape.measured
    assert measured is not None
    const = constant(index)
    number = Static(kind="int")
    if isinstance(index, ExternalObject) and index.name == "builtins.slice":
        bounds = [constant(bound) for bound in index.args]
        whole = measured.how == "shape" and measured.start is None and measured.stop is None
        simple = all(bound is None or type(bound) is int for bound in bounds) and bounds[2:] in (
            [],
            [None],
            [1],
        )
        if not (whole and simple):
            return TupleValue(None, number)
        return TupleValue(None, number, measured=Measured("shape", measured.of, bounds[0], bounds[1]))
    if measured.how == "shape" and type(const) is int:
        start, stop = measured.start, measured.stop
        if start is None and stop is None:
            return Static(kind="int", measured=Measured("axis", measured.of, const))
        if start is not None and start >= 0 and const >= 0:
            return Static(kind="int", measured=Measured("axis", measured.of, start + const))
    return number


def joined_shapes(parts: list[Value]) -> Measured | None:
    """The concatenation of these parts, as in `(*x.shape[:-1], n)`; None if none of them is a shape."""
    if not all(isinstance(part, (TupleValue, ListValue, Static)) for part in parts):
        return None
    if not any(isinstance(part, TupleValue) and part.measured is not None for part in parts):
        return None
    return Measured("joined", tuple(parts))


def unpacked_shape(shape: TupleValue, count: int, certain: bool) -> list[Value] | None:
    """The sizes that `B, T = x.shape` binds. `certain`: it runs for every array, so the array has that rank."""
    measured = shape.measured
    if measured is None or measured.how != "shape" or measured.stop is not None:
        return None
    (array,) = measured.of
    start = measured.start or 0
    if start < 0:
        return None
    if certain and isinstance(array, Array) and not array.tree and array.form is None and array.made is None:
        array.form = Form()
    form = array.form if isinstance(array, (Array, NumpyArray)) else None
    if certain and form is not None and form.rank is None:
        form.rank = start + count
        form.asked = form.asked and form.shape is not None
    return [
        Static(kind="int", measured=Measured("axis", (array,), start + position)) for position in range(count)
    ]


def name_size(value: Static | Unknown, name: str) -> None:
    """Records the name that the program gives to a size."""
    measured = value.measured
    if type(value) is Unknown and value.origin is not None and value.origin.size is None:
        if _is_of_shape(value.origin):
            value.origin.size = symbol(name)
        return
    if measured is None or measured.how != "axis" or measured.start is None:
        return
    array = measured.of[0]
    if isinstance(array, (Array, NumpyArray)):
        if array.form is None:
            array.form = Form()
        array.form.names.setdefault(measured.start, name)


def computed(operator: str, left: Value, right: Value) -> Measured | None:
    """The value of `left operator right`, if either side is a dimension or derived from one."""
    if operator not in _INTEGER_OPERATORS:
        return None
    if not (_is_size(left) or _is_size(right)):
        return None
    return Measured(operator, (left, right)) if _is_known(left) and _is_known(right) else None


def _is_size(value: Value) -> bool:
    """Whether it comes from the shape of an array or of an unknown value."""
    if isinstance(value, Static):
        return value.measured is not None
    if type(value) is not Unknown:
        return False
    origin = value.origin
    if value.measured is not None or origin is None:
        return value.measured is not None
    return origin.size is not None or _is_of_shape(origin)


def _is_of_shape(origin: Origin) -> bool:
    """Whether it is `x.shape[0]` of an unknown value."""
    return origin.parent is not None and origin.parent.name.endswith(".shape")


def _is_known(value: Value) -> bool:
    if isinstance(value, Static):
        return value.measured is not None or type(value.const) is int
    return type(value) is Unknown and (value.measured is not None or value.origin is not None)


def unmeasured(value: Static) -> Static:
    """A number that comes from the shapes of other arrays than before: it is a size, and which one is unknown."""
    if value.measured is None:
        return value
    return Static(value.const, value.kind, value.one_of, value.truth, Measured("size", (UNKNOWN,)))


def decides_for_size(test: ast.expr, variables: Mapping[str, Value]) -> bool:
    """Whether a test reads sizes, directly or through a name bound to one. Code after it may not run for the known
    sizes."""
    return asks_for_size(test) or any(_is_measured(variables.get(part.id)) for part in name_loads(test))


def _is_measured(value: Value | None) -> bool:
    """Whether it is a size or a tuple of sizes."""
    if isinstance(value, (Static, TupleValue)):
        return value.measured is not None
    return value is not None and _is_size(value)


def declare_sizes(bound: Mapping[str, Value], said: Mapping[str, tuple[str, ...]]) -> None:
    """Records what annotations say about the shapes of arguments. A name stands for one size in all of them."""
    named: dict[str, Size] = {}
    for name, sizes in said.items():
        value = bound.get(name)
        if not isinstance(value, Array) or value.made is not None:
            continue
        if value.form is None:
            value.form = Form("declared")
        elif value.form.how != "either" or value.form.rank is not None:
            continue  # a call has already given it
        value.form.rank = len(sizes)
        for axis, size in enumerate(sizes):
            if size not in named:
                named[size] = int(size) if size.isdigit() else symbol(size)
            value.form.symbols[axis] = named[size]
