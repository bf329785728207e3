"""Shapes of parts of arrays: `x[...]`, `x.at[...]`, `take` and slices."""

from __future__ import annotations

from jaxlint.staging.shapes.applied import (
    Applied,
    MisfitError,
    Result,
    Shape,
    broadcast_shapes,
    shape_text,
    shapes,
)
from jaxlint.staging.shapes.measures import size_of
from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value, is_none, kind_of_static
from jaxlint.staging.values.sizes import Size, add, differ, subtract, symbol


@shapes("ref.set")
def stored(applied: Applied) -> Result:
    """`ref[index] = value` in a kernel, which does not broadcast."""
    place, value = getitem(applied), applied.shape(2)
    assert isinstance(place, tuple)
    if len(place) != len(value) or any(map(differ, place, value)):
        raise MisfitError(
            f"a value of shape {shape_text(value)} is stored in a Ref's part of shape {shape_text(place)}",
            (applied.args[2], value),
            (applied.args[0], place),
        )
    return place


@shapes("numpy.getitem")
def getitem(applied: Applied) -> Result:
    whole = applied.shape(0)
    index = applied.args[1]
    if isinstance(index, TupleValue):
        if index.items is None:
            applied.unclear()
        parts = index.items
    else:
        parts = [index]
    return indexed(applied, whole, parts)


def indexed(applied: Applied, whole: Shape, parts: list[Value]) -> Shape:
    taken = sum(not (is_none(part) or constant(part) is ...) for part in parts)
    if any(is_mask(part) for part in parts):
        applied.unclear()
    if taken > len(whole):
        raise MisfitError(
            f"too many indices: {taken} for an array of shape {shape_text(whole)}",
            (applied.args[0], whole),
            error="IndexError",
        )
    rest, found = list(whole), list[Size]()
    fancy: list[tuple[Value, Shape]] = []
    places: list[int] = []  # in `found`: each index that is an array, or a number beside an array
    for part in parts:
        const = constant(part)
        if is_none(part):
            found.append(1)
        elif const is ...:
            kept = len(whole) - taken
            found += rest[:kept]
            del rest[:kept]
            places.append(-1)
        elif isinstance(part, ExternalObject) and part.name == "builtins.slice":
            found.append(_sliced(applied, rest.pop(0), part))
            places.append(-1)
        else:
            rest.pop(0)
            fancy.append((part, _index_shape(applied, part)))
            places.append(len(found))
    if not any(shape for _, shape in fancy):
        return (*found, *rest)
    joint = broadcast_shapes(fancy)
    given = [place for place in places if place >= 0]
    together = _are_together(parts)
    start = given[0] if together else 0
    return (*found[:start], *joint, *found[start:], *rest)


def is_mask(part: Value) -> bool:
    return isinstance(part, (Array, NumpyArray)) and dtype_of(part) == "bool"


def _are_together(parts: list[Value]) -> bool:
    """Whether the indices that are arrays or numbers are adjacent."""
    fancy = [
        not (is_none(part) or constant(part) is ... or isinstance(part, ExternalObject)) for part in parts
    ]
    first, last = fancy.index(True), len(fancy) - fancy[::-1].index(True)
    return all(fancy[first:last])


def _index_shape(applied: Applied, part: Value) -> Shape:
    if isinstance(part, Static):
        const = part.const
        if type(const) is int or kind_of_static(part) == "int":
            return ()
        applied.unclear()
    if isinstance(part, (Array, NumpyArray)):
        # Its dtype must be known: a mask selects elements.
        return applied.shape_of(part) if dtype_of(part).startswith(("int", "uint")) else applied.unclear()
    if isinstance(part, ListValue):
        const = constant(part)
        if isinstance(const, tuple) and const and all(type(number) is int for number in const):
            return (len(const),)
        if part.items is None and isinstance(part.element, Static) and kind_of_static(part.element) == "int":
            return (part.length if part.length is not None else symbol("?"),)
    return applied.unclear()


def _sliced(applied: Applied, size: Size, part: ExternalObject) -> Size:
    start, stop, step = ([None if is_none(bound) else bound for bound in part.args] + [None] * 3)[:3]
    pace = 1 if step is None else constant(step)
    first = 0 if start is None else size_of(start, applied.of)
    last = size if stop is None else size_of(stop, applied.of)
    if type(pace) is not int or pace == 0:
        return symbol("?")
    if isinstance(size, int):
        one, two = (None if bound is None else size_of(bound, applied.of) for bound in (start, stop))
        if (start is None or isinstance(one, int)) and (stop is None or isinstance(two, int)):
            return len(range(*slice(one, two, pace).indices(size)))
        return symbol("?")
    if first is None or last is None:
        return symbol("?")
    if pace == -1 and start is None and stop is None:
        return size
    if pace != 1 or not isinstance(first, int):
        return symbol("?")
    if stop is not None and last != size and not (isinstance(last, int) and last < 0):
        return symbol("?")  # it may exceed the size
    end = add(size, last) if isinstance(last, int) else last
    begin: Size = first if first >= 0 else add(size, first)
    return subtract(end, begin)


@shapes("numpy.at")
def at(applied: Applied) -> Result:
    """`x.at[i].set(v)` has the shape of `x`."""
    return applied.shape_of(applied.plain(applied.args[0]))


@shapes("numpy.take")
def take(applied: Applied) -> Result:
    shape, indices = applied.shape(0, "a"), applied.shape(1, "indices")
    if applied.given(2, "axis") is None:
        return indices
    axis = applied.axis(len(shape), 2, "axis")
    return (*shape[:axis], *indices, *shape[axis + 1 :])


@shapes("numpy.take_along_axis")
def take_along_axis(applied: Applied) -> Result:
    operand, indices = applied.needed(0, "arr"), applied.needed(1, "indices")
    shape, of_indices = applied.shape_of(operand), applied.shape_of(indices)
    if "axis" in applied.kwargs and is_none(applied.kwargs["axis"]):
        applied.unclear()
    if len(shape) != len(of_indices):
        raise MisfitError(
            f"`take_along_axis` of shapes {shape_text(shape)} and {shape_text(of_indices)}: indices need as many dimensions as the array",
            (operand, shape),
            (indices, of_indices),
        )
    axis = applied.axis(len(of_indices), 2, "axis", otherwise=-1)
    around = broadcast_shapes(
        [(operand, shape[:axis] + shape[axis + 1 :]), (indices, of_indices[:axis] + of_indices[axis + 1 :])]
    )
    return (*around[:axis], of_indices[axis], *around[axis:])


@shapes("lax.dynamic_slice")
def dynamic_slice(applied: Applied) -> Result:
    return applied.sizes(2, "slice_sizes")


@shapes("lax.dynamic_slice_in_dim")
def dynamic_slice_in_dim(applied: Applied) -> Result:
    shape = applied.shape(0, "operand")
    axis = applied.axis(len(shape), 3, "axis", otherwise=0)
    return (*shape[:axis], applied.size(2, "slice_size"), *shape[axis + 1 :])


@shapes("lax.dynamic_index_in_dim lax.index_in_dim")
def index_in_dim(applied: Applied) -> Result:
    shape = applied.shape(0, "operand")
    axis = applied.axis(len(shape), 2, "axis", otherwise=0)
    kept = (1,) if applied.flag(3, "keepdims", otherwise=True) else ()
    return (*shape[:axis], *kept, *shape[axis + 1 :])


@shapes("lax.dynamic_update_slice lax.dynamic_update_slice_in_dim lax.dynamic_update_index_in_dim")
def updated(applied: Applied) -> Result:
    return applied.shape(0, "operand")


@shapes("lax.slice")
def slice_(applied: Applied) -> Result:
    shape, starts, stops = (
        applied.shape(0, "operand"),
        applied.numbers(1, "start_indices"),
        applied.sizes(2, "limit_indices"),
    )
    if len(starts) != len(shape) or len(stops) != len(shape) or applied.given(3, "strides") is not None:
        applied.unclear()
    return tuple(subtract(stop, start) for start, stop in zip(starts, stops, strict=True))


@shapes("lax.slice_in_dim")
def slice_in_dim(applied: Applied) -> Result:
    shape = applied.shape(0, "operand")
    axis = applied.axis(len(shape), 4, "axis", otherwise=0)
    start, stop = (
        None if applied.given(i, name) is None else applied.number(i, name)
        for i, name in ((1, "start_index"), (2, "limit_index"))
    )
    size, stride = shape[axis], applied.number(3, "stride", otherwise=1)
    if not isinstance(size, int) or stride < 1:
        applied.unclear()
    return (*shape[:axis], len(range(*slice(start, stop, stride).indices(size))), *shape[axis + 1 :])
