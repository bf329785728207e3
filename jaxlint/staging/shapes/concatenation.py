"""Shapes of operations that join arrays along an axis, or split one into parts."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.staging.shapes.applied import (
    Applied,
    MisfitError,
    Result,
    Shape,
    same_size,
    shape_text,
    shapes,
)
from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Value, is_none
from jaxlint.staging.values.sizes import Size, add, differ, product, quotient, symbol, total, written

_MOST_PARTS = 10_000  # of one array: there is a shape for each


def _parts(applied: Applied, *names: str) -> list[tuple[Value, Shape]]:
    listed = applied.needed(0, *names)
    if not isinstance(listed, (ListValue, TupleValue)):
        applied.unclear()
    items = applied.items(listed)
    return [(item, applied.shape_of(item)) for item in items] if items else applied.unclear()


def _joined(applied: Applied, parts: Sequence[tuple[Value, Shape]], axis: int) -> Shape:
    first_value, first = parts[0]
    result = list(first)
    for value, shape in parts[1:]:
        if len(shape) != len(first):
            raise MisfitError(
                f"arrays of shapes {shape_text(first)} and {shape_text(shape)} do not concatenate: they have {len(first)} and {len(shape)} dimensions",
                (first_value, first),
                (value, shape),
                error="TypeError",
            )
        for place, size in enumerate(shape):
            if place == axis:
                continue
            if differ(result[place], size):
                raise MisfitError(
                    f"arrays of shapes {shape_text(first)} and {shape_text(shape)} do not concatenate on axis {axis}: axis {place} is {written(result[place])} and {written(size)}",
                    (first_value, first),
                    (value, shape),
                    error="TypeError",
                )
            result[place] = same_size(result[place], size)
    result[axis] = total(shape[axis] for _, shape in parts)
    return tuple(result)


def _refuse_numbers(applied: Applied, listed: Value) -> None:
    """Arrays without an axis cannot be joined along one, however many there are."""
    if not isinstance(listed, (ListValue, TupleValue)):
        return
    for part in listed.elements():
        if isinstance(part, (Array, NumpyArray)) and applied.of(part) == ():
            raise MisfitError("arrays of shape () have no axis to concatenate along: use `stack`", (part, ()))


@shapes("numpy.concatenate numpy.concat lax.concatenate")
def concatenate(applied: Applied) -> Result:
    listed = applied.needed(0, "arrays", "operands")
    _refuse_numbers(applied, listed)
    if isinstance(listed, (ListValue, TupleValue)) and listed.items is None:
        _, *row = applied.shape_of(listed)
        axis = applied.axis(len(row), 1, "axis", "dimension", otherwise=0)
        return (*row[:axis], symbol("?"), *row[axis + 1 :])
    parts = _parts(applied, "arrays", "operands")
    if "axis" in applied.kwargs and is_none(applied.kwargs["axis"]):
        return (total(product(shape) for _, shape in parts),)
    axis = applied.axis(len(parts[0][1]), 1, "axis", "dimension", otherwise=0)
    return _joined(applied, parts, axis)


@shapes("numpy.stack")
def stack(applied: Applied) -> Result:
    listed = applied.needed(0, "arrays")
    if isinstance(listed, (ListValue, TupleValue)) and listed.items is None:
        count, *row = applied.shape_of(listed)
        axis = applied.axis(len(row) + 1, 1, "axis", otherwise=0)
        return (*row[:axis], count, *row[axis:])
    parts = _parts(applied, "arrays")
    first_value, first = parts[0]
    common = list(first)
    for value, shape in parts[1:]:
        if len(shape) != len(first) or any(map(differ, common, shape)):
            raise MisfitError(
                f"arrays of shapes {shape_text(first)} and {shape_text(shape)} do not stack: all shapes must be equal",
                (first_value, first),
                (value, shape),
            )
        common = [same_size(a, b) for a, b in zip(common, shape, strict=True)]
    axis = applied.axis(len(first) + 1, 1, "axis", otherwise=0)
    return (*common[:axis], len(parts), *common[axis:])


@shapes("numpy.hstack numpy.vstack numpy.dstack numpy.column_stack")
def stacked(applied: Applied) -> Result:
    how = applied.name.removeprefix("numpy.")
    parts = [(value, _at_least(how, shape)) for value, shape in _parts(applied, "tup", "arrays")]
    rank = len(parts[0][1])
    return _joined(
        applied, parts, {"vstack": 0, "hstack": min(1, rank - 1), "dstack": 2, "column_stack": 1}[how]
    )


def _at_least(how: str, shape: Shape) -> Shape:
    if how == "column_stack":
        return (*shape, 1) if len(shape) == 1 else shape if shape else (1, 1)
    dimensions = {"hstack": 1, "vstack": 2, "dstack": 3}[how]
    return with_dimensions(shape, dimensions)


def with_dimensions(shape: Shape, dimensions: int) -> Shape:
    if dimensions == 3 and len(shape) < 3:
        return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    return (1,) * (dimensions - len(shape)) + shape


@shapes("numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d")
def at_least(applied: Applied) -> Result:
    if len(applied.args) != 1:
        applied.unclear()
    return with_dimensions(applied.shape(0), int(applied.name[-2]))


@shapes("numpy.append")
def append(applied: Applied) -> Result:
    one, two = applied.needed(0, "arr"), applied.needed(1, "values")
    left, right = applied.shape_of(one), applied.shape_of(two)
    if applied.given(2, "axis") is None:
        return (add(product(left), product(right)),)
    return _joined(applied, [(one, left), (two, right)], applied.axis(len(left), 2, "axis"))


# -- parts


@shapes("numpy.split numpy.array_split numpy.hsplit numpy.vsplit numpy.dsplit lax.split")
def split(applied: Applied) -> Result:
    """A list of shapes, one for each part."""
    how = applied.name.rpartition(".")[2]
    shape = applied.shape(0, "ary", "operand")
    fixed = {"hsplit": min(1, len(shape) - 1), "vsplit": 0, "dsplit": 2}.get(how)
    axis = (
        applied.axis(len(shape), 2, "axis", otherwise=0)
        if fixed is None
        else applied.axis_in(fixed, len(shape))
    )
    where = applied.needed(1, "indices_or_sections", "sizes")
    const = constant(where)
    if applied.name == "lax.split":
        return [(*shape[:axis], size, *shape[axis + 1 :]) for size in applied.sizes_of(where)]
    if type(const) is int and const > 0:
        if const > _MOST_PARTS:
            applied.unclear()
        return _sections(applied, shape, axis, const)
    size = shape[axis]
    if not isinstance(const, tuple) or not all(type(bound) is int and bound >= 0 for bound in const):
        applied.unclear()
    bounds = [0, *const]
    sizes: list[Size] = []
    for start, stop in zip(bounds, [*bounds[1:], None], strict=True):
        if isinstance(size, int):
            sizes.append(len(range(*slice(start, stop).indices(size))))
        else:
            sizes.append(symbol("?"))
    return [(*shape[:axis], part, *shape[axis + 1 :]) for part in sizes]


def _sections(applied: Applied, shape: Shape, axis: int, count: int) -> Result:
    size = shape[axis]
    part = quotient(size, count)
    if part is not None:
        return [(*shape[:axis], part, *shape[axis + 1 :])] * count
    if isinstance(size, int):
        if applied.name.endswith("array_split"):
            sizes = [size // count + (1 if i < size % count else 0) for i in range(count)]
            return [(*shape[:axis], one, *shape[axis + 1 :]) for one in sizes]
        raise MisfitError(
            f"axis {axis} of an array of shape {shape_text(shape)} cannot be split into {count} equal parts",
            (applied.needed(0, "ary"), shape),
        )
    if applied.name.endswith("array_split"):
        return [(*shape[:axis], symbol("?"), *shape[axis + 1 :]) for _ in range(count)]
    unknown = symbol("?")
    return [(*shape[:axis], unknown, *shape[axis + 1 :])] * count


@shapes("numpy.unstack")
def unstack(applied: Applied) -> Result:
    shape = applied.shape(0, "x")
    axis = applied.axis(len(shape), 99, "axis", otherwise=0)
    count = shape[axis]
    row = (*shape[:axis], *shape[axis + 1 :])
    if not isinstance(count, int):
        return row
    return [row] * count if count <= _MOST_PARTS else applied.unclear()
