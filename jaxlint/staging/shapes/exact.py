"""The context keys of an exact analysis, which evaluates each call with the very arrays that it receives, as for
`inspect --arrays`."""

from __future__ import annotations

import math

from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.values.arrays import Array, Form, NumpyArray, Shape
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.measured import MEASURES
from jaxlint.staging.values.objects import (
    AtIndexer,
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Partial,
    Transformed,
    TupleValue,
)
from jaxlint.staging.values.parts import parts_of
from jaxlint.staging.values.plain import MISSING, DType, Static, Value, hashable

MOST_PARTS = 400  # parts of one argument that are compared
Numbers = tuple[int, ...]


def numbers_of(value: Value) -> Numbers | None:
    """The shape of an array, if each size is a number."""
    return _in_numbers(symbolic_shape(value))


def _in_numbers(shape: Shape | None) -> Numbers | None:
    if shape is None:
        return None
    sizes = tuple(size for size in shape if isinstance(size, int))
    return sizes if len(sizes) == len(shape) else None


def measured_in_numbers(value: Value, name: str) -> Value | None:
    """The `shape`, `ndim` or `size` of an array, if each size is a number."""
    numbers = numbers_of(value) if name in MEASURES else None
    if numbers is None:
        return None
    if name == "shape":
        return TupleValue([Static(size) for size in numbers])
    return Static(len(numbers) if name == "ndim" else math.prod(numbers))


def fixed(array: Array | NumpyArray) -> Form:
    """The form of an array by its shape, independent of its operation: an unknown size becomes a new symbol."""
    return form_of(symbolic_shape(array))


def form_of(shape: Shape | None) -> Form:
    """The form for this shape, with a new symbol for each unknown size; hidden if the rank is unknown."""
    if shape is None:
        return Form("hidden")
    numbers = _in_numbers(shape)
    return _of_rank(shape) if numbers is None else declared(numbers)


def _of_rank(shape: Shape) -> Form:
    form = Form("declared")
    form.rank = len(shape)
    form.symbols = {axis: size for axis, size in enumerate(shape) if isinstance(size, int)}
    return form


def declared(numbers: Numbers) -> Form:
    """The form for this shape."""
    form = Form("declared")
    form.asked, form.shape = True, numbers
    return form


def argument_form(array: Array) -> Form | None:
    """The shape of an argument inside the function: an unknown size becomes a new symbol."""
    shape = symbolic_shape(array)
    return None if shape is None else _of_rank(shape)


def exact_key(value: Value) -> object:
    """A key that is equal for two arguments with the same numbers and with arrays of the same shapes and dtypes."""
    found: list[object] = []
    queue: list[Value] = [value]
    seen: set[int] = set()
    while queue and len(found) < MOST_PARTS:
        part = queue.pop()
        found.append(_own_key(part))
        if id(part) in seen:
            continue
        inside = _inside(part)
        if inside:
            seen.add(id(part))
            queue.extend(reversed(inside))
    return tuple(found)


def _own_key(part: Value) -> object:
    """The key of one value, without its parts."""
    if isinstance(part, (Array, NumpyArray)):
        shape = symbolic_shape(part)
        sizes = None if shape is None else tuple(size if isinstance(size, int) else "?" for size in shape)
        return ("a", dtype_of(part), sizes)
    if isinstance(part, DType):
        return ("t", part.name)
    if isinstance(part, Static):
        simple = part.const is not MISSING and hashable(part.const)
        return ("s", type(part.const), part.const) if simple else part.kind
    if isinstance(part, (TupleValue, ListValue)):
        return (type(part), -1 if part.items is None else len(part.items))
    if isinstance(part, DictValue):
        return ("d", *(key for key in part.items if hashable(key)))
    if isinstance(part, Instance):
        return ("i", part.cls.node, *part.fields)
    if isinstance(part, (Function, ClassValue)):
        return (part.node, part.scope.serial)
    if isinstance(part, (External, ExternalObject, ExternalMethod)):
        return (type(part), part.name)
    return type(part)


def _inside(part: Value) -> list[Value]:
    """The parts that a call may read."""
    if isinstance(part, Partial):
        return [part.function, *part.args, *part.kwargs.values()]
    if isinstance(part, BoundMethod):
        return [part.function, part.receiver]
    if isinstance(part, ExternalObject):
        return [*part.args, *part.kwargs.values()]
    if isinstance(part, ExternalMethod):
        return [part.receiver]
    if isinstance(part, Transformed):
        return [part.target, *part.options.values()]
    if isinstance(part, Choice):
        return list(part.options)
    if isinstance(part, AtIndexer):
        return [part.array]
    return list(parts_of(part))
