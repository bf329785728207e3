"""Where the axes of an array come from: the axes of the operands that they are. Computed on demand.

Two axes of one size are not one axis. What an axis means follows from where the array came from, and a program that
takes it for another computes numbers of the right shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.known import BROADCASTING, ELEMENTWISE, REDUCTIONS
from jaxlint.staging.values.arrays import Array, NumpyArray, Operation, Shape
from jaxlint.staging.values.objects import ExternalObject, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import Static, Value, is_none
from jaxlint.staging.values.sizes import Size, product

MAX_STEPS = 48
_DENSE = frozenset({"Linear", "Dense", "LayerNorm", "RMSNorm", "Dropout"})  # layers that change the last axis


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of an array, from the front. `summed`: between here and the end of the walk, a product summed over
    another axis of this array."""

    array: Array | NumpyArray
    number: int
    summed: bool = False


def axis_number(value: Value | None, rank: int, otherwise: int | None = None) -> int | None:
    """The axis that an argument names, from the front; None if it is unknown, or no axis."""
    number = otherwise if value is None else constant(value)
    return number % rank if type(number) is int and -rank <= number < rank else None


def walk_axis(array: Array | NumpyArray, number: int) -> Iterator[Axis]:
    """An axis, and all axes of earlier arrays that it comes from."""
    todo, seen = [Axis(array, number)], 0
    while todo and seen < MAX_STEPS:
        axis = todo.pop()
        seen += 1
        yield axis
        todo += _before(axis)


def made_of(array: Array | NumpyArray) -> Operation | None:
    """The operation behind an array, or the layer."""
    if array.made is None and array.form is not None and array.form.how == "layer":
        return array.form.made
    return array.made


def merged_axes(array: Array | NumpyArray, number: int) -> tuple[Shape, Operation] | None:
    """The axes that a reshape has made one, in their order, and that reshape; None if the axis is no such one."""
    for axis in walk_axis(array, number):
        made = made_of(axis.array)
        if made is None or made.name not in ("reshape", "ravel", "flatten"):
            continue
        parts = _parts(made, axis)
        if parts is not None:
            return parts, made
    return None


def _parts(made: Operation, axis: Axis) -> Shape | None:
    """The axes of the operand that one axis of a reshaped array consists of."""
    whole = symbolic_shape(made.args[0]) if made.args else None
    shape = symbolic_shape(axis.array)
    if whole is None or shape is None:
        return None
    after = len(shape) - axis.number - 1
    start, stop = axis.number, len(whole) - after
    kept = whole[:start] == shape[:start] and whole[stop:] == shape[axis.number + 1 :]
    parts = whole[start:stop]
    return parts if kept and len(parts) > 1 and product(parts) == shape[axis.number] else None


def _before(axis: Axis) -> list[Axis]:
    """The axes of the operands that an axis is."""
    array, number = axis.array, axis.number
    made = made_of(array)
    if made is None:
        return _outside(axis)
    shape = symbolic_shape(array)
    if shape is None or not made.args or not number < len(shape):
        return []
    name, first = made.name, made.args[0]
    if name in ELEMENTWISE or name in ("sort", "astype"):
        return _in(first, number, axis)
    if name in BROADCASTING or name == "take_along_axis":
        operands = made.args[:2] if name == "take_along_axis" else made.args
        if name == "take_along_axis" and axis_number(made.operand(2, "axis"), len(shape)) in (None, number):
            return []
        return [found for operand in operands for found in _aligned(operand, number, shape, axis)]
    if name in REDUCTIONS:
        return _reduced(made, axis)
    if name in _MOVING:
        found = _MOVING[name](made, number, len(shape))
        return [] if found is None else _in(first, found, axis)
    if name in ("reshape", "ravel", "flatten"):
        return _reshaped(first, shape, axis)
    if name == "einsum":
        return _of_einsum(made, axis)
    if name in ("matmul", "dot") and len(made.args) == 2:
        return _of_product(made, len(shape), axis)
    if name.rpartition(".")[2] in _DENSE and number < len(shape) - 1 and len(made.args) > 1:
        return _aligned(made.args[1], number, shape, axis)  # the first is the layer
    return []


def _outside(axis: Axis) -> list[Axis]:
    """The axis of the array that a transformed function got as an argument, or that its results were stacked from."""
    form = axis.array.form
    if form is None or not form.of or not isinstance(form.of[0], (Array, NumpyArray)):
        return []
    if form.how == "" and len(form.of) == 1:
        return [Axis(form.of[0], axis.number, axis.summed)]
    if form.axis < 0:
        return []
    if form.how == "row":
        return [Axis(form.of[0], axis.number + (axis.number >= form.axis), axis.summed)]
    if form.how == "stacked" and axis.number != form.axis:
        return [Axis(form.of[0], axis.number - (axis.number > form.axis), axis.summed)]
    return []


def _in(operand: Value, number: int | None, axis: Axis, summed: bool = False) -> list[Axis]:
    if number is None or not isinstance(operand, (Array, NumpyArray)):
        return []
    return [Axis(operand, number, axis.summed or summed)]


def _aligned(operand: Value, number: int, result: Shape, axis: Axis) -> list[Axis]:
    """The axis of an operand that broadcasts to one of the result."""
    shape = symbolic_shape(operand) if isinstance(operand, (Array, NumpyArray)) else None
    if shape is None:
        return []
    place = number - (len(result) - len(shape))
    if place < 0 or shape[place] == 1:
        return []
    # What is broadcast along an axis may lack the one that a later product sums over.
    whole = len(shape) == len(result) and all(size != 1 for size in shape)
    return _in(operand, place, axis if whole else replace(axis, summed=False))


def _reduced(made: Operation, axis: Axis) -> list[Axis]:
    shape = symbolic_shape(made.args[0])
    given = made.operand(1, "axis")
    if shape is None or given is None or is_none(given):
        return []
    numbers = constant(given)
    gone = [
        axis_number(Static(one), len(shape))
        for one in (numbers if isinstance(numbers, tuple) else (numbers,))
    ]
    if None in gone or not made.kwargs.keys() <= {"axis", "keepdims", "where", "dtype"}:
        return []
    if "keepdims" in made.kwargs and constant(made.kwargs["keepdims"]) is not False:
        return [] if axis.number in gone else _in(made.args[0], axis.number, axis)
    kept = [number for number in range(len(shape)) if number not in gone]
    return _in(made.args[0], kept[axis.number], axis) if axis.number < len(kept) else []


def _reshaped(operand: Value, shape: Shape, axis: Axis) -> list[Axis]:
    """An axis before or behind those that a reshape changes."""
    whole = symbolic_shape(operand)
    if whole is None:
        return []
    place, back = axis.number, axis.number - len(shape)
    if whole[: place + 1] == shape[: place + 1]:
        return _in(operand, place, axis)
    if -back <= len(whole) and whole[back:] == shape[back:]:
        return _in(operand, len(whole) + back, axis)
    return []


def _of_einsum(made: Operation, axis: Axis) -> list[Axis]:
    written = constant(made.args[0])
    if not isinstance(written, str) or "->" not in written or "." in written:
        return []
    inputs, _, output = written.replace(" ", "").partition("->")
    if axis.number >= len(output):
        return []
    letter = output[axis.number]
    found: list[Axis] = []
    for term, operand in zip(inputs.split(","), made.args[1:], strict=False):
        if letter in term:
            found += _in(operand, term.index(letter), axis, summed=any(other not in output for other in term))
    return found


def _of_product(made: Operation, rank: int, axis: Axis) -> list[Axis]:
    left, right = made.args
    shapes = [symbolic_shape(operand) for operand in made.args]
    if any(shape is None or len(shape) < 2 for shape in shapes) or (made.name == "dot" and rank != 2):
        return []
    one, two = (len(shape) for shape in shapes if shape is not None)
    back = axis.number - rank
    if back == -1:
        return _in(right, two - 1, axis, summed=True)
    found = _in(left, one + back, axis, summed=True) if one + back >= 0 else []
    return found + (_in(right, two + back, axis, summed=True) if back < -2 and two + back >= 0 else [])


def _of_transpose(made: Operation, number: int, rank: int) -> int | None:
    if len(made.args) > 2:
        axes: object = tuple(constant(one) for one in made.args[1:])
    elif made.operand(1, "axes") is None:
        return rank - 1 - number if made.operand(1, "permutation") is None else None
    else:
        axes = constant(made.operand(1, "axes") or Static(None))
    if not isinstance(axes, tuple) or len(axes) != rank:
        return None
    return axis_number(Static(axes[number]), rank)


def _of_swapaxes(made: Operation, number: int, rank: int) -> int | None:
    one, two = (axis_number(made.operand(place, f"axis{place}") or Static(None), rank) for place in (1, 2))
    if one is None or two is None:
        return None
    return {one: two, two: one}.get(number, number)


def _of_moveaxis(made: Operation, number: int, rank: int) -> int | None:
    source = axis_number(made.operand(1, "source") or Static(None), rank)
    target = axis_number(made.operand(2, "destination") or Static(None), rank)
    if source is None or target is None:
        return None
    order = [axis for axis in range(rank) if axis != source]
    order.insert(target, source)
    return order[number]


def _of_expanded(made: Operation, number: int, rank: int) -> int | None:
    new = axis_number(made.operand(1, "axis") or Static(None), rank)
    return None if new is None or new == number else number - (number > new)


def _of_squeeze(made: Operation, number: int, rank: int) -> int | None:
    gone = axis_number(made.operand(1, "axis") or Static(None), rank + 1)
    return None if gone is None else number + (number >= gone)


def _of_item(made: Operation, number: int, rank: int) -> int | None:
    """An axis that an index keeps whole."""
    if len(made.args) != 2:
        return None
    index = made.args[1]
    parts = index.items if isinstance(index, TupleValue) else [index]
    if parts is None:
        return None
    place = result = 0
    for part in parts:
        sliced = isinstance(part, ExternalObject) and part.name == "builtins.slice"
        if is_none(part):
            if result == number:
                return None
            result += 1
        elif sliced and isinstance(part, ExternalObject):
            if result == number:
                return place if all(map(is_none, part.args)) else None
            result, place = result + 1, place + 1
        elif type(constant(part)) is int:
            place += 1
        else:
            return None  # an ellipsis, or an array
    return place + number - result


_MOVING = {
    "transpose": _of_transpose,
    "swapaxes": _of_swapaxes,
    "moveaxis": _of_moveaxis,
    "expand_dims": _of_expanded,
    "squeeze": _of_squeeze,
    "getitem": _of_item,
}


def sizes_swapped(before: Shape, after: Shape) -> tuple[Size, Size] | None:
    """The two sizes next to each other that a reshape certainly exchanges, while all others stay; None if it does not."""
    if len(before) != len(after):
        return None
    changed = [place for place, (one, two) in enumerate(zip(before, after, strict=True)) if one != two]
    if len(changed) != 2 or changed[1] != changed[0] + 1:
        return None
    one, two = before[changed[0]], before[changed[1]]
    return (
        (one, two) if (two, one) == (after[changed[0]], after[changed[1]]) and 1 not in (one, two) else None
    )
