"""The shapes of operations that are more than one element at a time: indexing, products, what joins and rearranges."""

from __future__ import annotations

import math
from collections.abc import Callable

from jaxlint.staging.values.arrays import Array, Operation
from jaxlint.staging.values.objects import ExternalObject, ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import MISSING, Value, is_none

Shape = tuple[int, ...]
ShapeOf = Callable[[Value], Shape | None]


def static_shape(value: Value | None) -> Shape | None:
    """The shape that a shape argument asks for."""
    const = constant(value)
    if isinstance(const, bool) or const is MISSING:
        return None
    if isinstance(const, int):
        return (const,) if const >= 0 else None
    if isinstance(const, tuple) and all(isinstance(n, int) and n >= 0 for n in const):
        return const
    return None


def reduced(shape: Shape | None, made: Operation) -> Shape | None:
    """The shape of a sum and its like, whose second argument is an axis."""
    axis = made.operand(1, "axis")
    keeps = constant(made.kwargs["keepdims"]) if "keepdims" in made.kwargs else False
    if keeps not in (True, False):
        return None
    if axis is None or is_none(axis):
        return None if keeps and shape is None else (1,) * len(shape or ()) if keeps else ()
    const = constant(axis)
    axes = const if isinstance(const, tuple) else (const,)
    if shape is None or not all(type(n) is int and -len(shape) <= n < len(shape) for n in axes):
        return None
    gone = {n % len(shape) for n in axes}
    return tuple(1 if i in gone else n for i, n in enumerate(shape) if keeps or i not in gone)


def _indexed(made: Operation, shape_of: ShapeOf) -> Shape | None:
    """`x[index]` for numbers, slices of known bounds, `None` and `...`."""
    whole = shape_of(made.args[0])
    if whole is None or len(made.args) < 2:
        return None
    index = made.args[1]
    parts = index.items if isinstance(index, TupleValue) else [index]
    if parts is None:
        return None
    taken = sum(not (is_none(part) or constant(part) is ...) for part in parts)
    if taken > len(whole):
        return None
    rest, found = list(whole), list[int]()
    for part in parts:
        const = constant(part)
        if is_none(part):
            found.append(1)
        elif const is ...:
            kept = len(whole) - taken
            found += rest[:kept]
            del rest[:kept]
        elif type(const) is int or (
            isinstance(part, Array) and part.dtype.startswith("int") and shape_of(part) == ()
        ):
            rest.pop(0)
        elif isinstance(part, ExternalObject) and part.name == "builtins.slice":
            bounds = [constant(bound) for bound in part.args]
            if not all(bound is None or type(bound) is int for bound in bounds) or bounds[2] == 0:
                return None
            found.append(len(range(*slice(*bounds).indices(rest.pop(0)))))
        else:
            return None
    return (*found, *rest)


def _product(made: Operation, shape_of: ShapeOf) -> Shape | None:
    left, right = (shape_of(arg) for arg in made.args[:2])
    if not left or not right or left[-1] != right[-2 if len(right) > 1 else 0]:
        return None
    if len(left) == 1 or len(right) == 1:
        return (*left[:-1], *right[:-2], *right[-1:]) if len(right) > 1 else left[:-1]
    return (*left[:-1], right[-1]) if len(left) == len(right) == 2 else None


def _parts(made: Operation, shape_of: ShapeOf) -> list[Shape] | None:
    listed = made.args[0]
    if not isinstance(listed, (ListValue, TupleValue)) or not listed.items:
        return None
    shapes = [shape_of(item) for item in listed.items]
    known = [shape for shape in shapes if shape is not None]
    return known if len(known) == len(shapes) and len({len(shape) for shape in known}) == 1 else None


def _axis(made: Operation, position: int, rank: int) -> int | None:
    axis = made.operand(position, "axis")
    const = constant(axis) if axis is not None else 0
    return const % rank if type(const) is int and rank and -rank <= const < rank else None


def _concatenated(made: Operation, shape_of: ShapeOf) -> Shape | None:
    parts = _parts(made, shape_of)
    axis = _axis(made, 1, len(parts[0])) if parts else None
    if parts is None or axis is None:
        return None
    return (*parts[0][:axis], sum(part[axis] for part in parts), *parts[0][axis + 1 :])


def _stacked(made: Operation, shape_of: ShapeOf) -> Shape | None:
    parts = _parts(made, shape_of)
    axis = _axis(made, 1, len(parts[0]) + 1) if parts else None
    return (*parts[0][:axis], len(parts), *parts[0][axis:]) if parts and axis is not None else None


def _appended(made: Operation, shape_of: ShapeOf) -> Shape | None:
    sides = [shape_of(arg) for arg in made.args[:2]]
    if len(made.args) != 2 or made.kwargs or None in sides:
        return None
    return (sum(math.prod(side) for side in sides if side is not None),)


def _transposed(made: Operation, shape_of: ShapeOf) -> Shape | None:
    whole = shape_of(made.args[0])
    plain = len(made.args) == 1 and not made.kwargs
    return whole[::-1] if whole is not None and plain and len(whole) < 3 else None  # `.mT` is one too


def _flattened(made: Operation, shape_of: ShapeOf) -> Shape | None:
    whole = shape_of(made.args[0])
    return (math.prod(whole),) if whole is not None else None


def _expanded(made: Operation, shape_of: ShapeOf) -> Shape | None:
    whole = shape_of(made.args[0])
    axis = _axis(made, 1, len(whole) + 1) if whole is not None else None
    return (*whole[:axis], 1, *whole[axis:]) if whole is not None and axis is not None else None


def _outer(made: Operation, shape_of: ShapeOf) -> Shape | None:
    left, right = (shape_of(arg) for arg in made.args[:2])
    return None if left is None or right is None else (math.prod(left), math.prod(right))


def _square(made: Operation, shape_of: ShapeOf) -> Shape | None:
    size = static_shape(made.args[0])
    return size * 2 if size is not None and len(size) == 1 and len(made.args) == 1 else None


def _asked(position: int, keyword: str) -> Callable[[Operation, ShapeOf], Shape | None]:
    return lambda made, shape_of: static_shape(made.operand(position, keyword))


def _differences(made: Operation, shape_of: ShapeOf) -> Shape | None:
    whole = shape_of(made.args[0])
    if whole is None or len(made.args) > 1 or not set(made.kwargs) <= {"axis"}:
        return None
    axis = constant(made.kwargs["axis"]) if "axis" in made.kwargs else -1
    if type(axis) is not int or not -len(whole) <= axis < len(whole):
        return None
    axis %= len(whole)
    return (*whole[:axis], max(whole[axis] - 1, 0), *whole[axis + 1 :])


def _one_hot(made: Operation, shape_of: ShapeOf) -> Shape | None:
    whole, classes = shape_of(made.args[0]), static_shape(made.operand(1, "num_classes"))
    plain = "axis" not in made.kwargs and len(made.args) <= 2
    return (*whole, *classes) if whole is not None and classes is not None and plain else None


def _frequencies(made: Operation, shape_of: ShapeOf) -> Shape | None:
    size = static_shape(made.operand(0, "n"))
    half = made.name.endswith("rfftfreq")
    return size if size is None or not half else (size[0] // 2 + 1,)


def _meshed(made: Operation, shape_of: ShapeOf) -> Shape | None:
    """Each of the arrays that `meshgrid` gives."""
    sides = [shape_of(arg) for arg in made.args]
    indexing = constant(made.kwargs["indexing"]) if "indexing" in made.kwargs else "xy"
    if "sparse" in made.kwargs or indexing not in ("xy", "ij"):
        return None
    lengths = [math.prod(side) for side in sides if side is not None]
    if len(lengths) != len(sides):
        return None
    return (*lengths[1::-1], *lengths[2:]) if indexing == "xy" and len(lengths) > 1 else tuple(lengths)


# By the names of operations (`Operation.name`).
SHAPE_RULES: dict[str, Callable[[Operation, ShapeOf], Shape | None]] = {
    "getitem": _indexed,
    "matmul": _product,
    "concatenate": _concatenated,
    "stack": _stacked,
    "append": _appended,
    "transpose": _transposed,
    "ravel": _flattened,
    "flatten": _flattened,
    "expand_dims": _expanded,
    "outer": _outer,
    "eye": _square,
    "identity": _square,
    "broadcast_to": _asked(1, "shape"),
    "dynamic_slice": _asked(2, "slice_sizes"),
    "diff": _differences,
    "one_hot": _one_hot,
    "fft.fftfreq": _frequencies,
    "fft.rfftfreq": _frequencies,
    "meshgrid": _meshed,
}

__all__ = ["SHAPE_RULES", "Shape", "reduced", "static_shape"]
