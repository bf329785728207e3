"""Shapes of operations that move elements: reshapes, transposes, repetitions, padding."""

from __future__ import annotations

import ast

from jaxlint.staging.shapes.applied import (
    Applied,
    MisfitError,
    Result,
    Shape,
    broadcast,
    shape_text,
    shapes,
)
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.sizes import (
    Size,
    add,
    differ,
    multiply,
    product,
    quotient,
    subtract,
    symbol,
    symbols_of,
    total,
    written,
)


@shapes("numpy.reshape lax.reshape")
def reshape(applied: Applied) -> Result:
    if "order" in applied.kwargs and applied.text(99, "order") != "C":
        applied.unclear()
    if len(applied.args) > 2:  # `x.reshape(n, 64)`
        if applied.name.startswith("lax"):
            applied.unclear()
        asked = applied.sizes_of(TupleValue(list(applied.args[1:])))
    else:
        asked = applied.sizes(1, "shape", "newshape", "new_sizes")
    whole = applied.of(applied.needed(0, "a", "operand"))
    return _reshaped(applied, whole, asked)


def _reshaped(applied: Applied, whole: Shape | None, asked: Shape) -> Shape:
    open_axes = [axis for axis, size in enumerate(asked) if size == -1]
    if any(isinstance(size, int) and size < -1 for size in asked) or len(open_axes) > 1:
        applied.unclear()
    rest = product(size for size in asked if size != -1)
    if not open_axes:
        # (JAX does not check `lax.reshape` of tracers at trace time.)
        if whole is not None and applied.name.startswith("numpy") and differ(product(whole), rest):
            _refuse(applied, whole, asked, rest)
        return asked
    (axis,) = open_axes
    if whole is None:
        found: Size | None = None
    else:
        elements = product(whole)
        found = quotient(elements, rest)
        if found is None and isinstance(elements, int) and isinstance(rest, int) and rest:
            _refuse(applied, whole, asked, rest)
        found = _anonymous_free(found, whole)
    return (*asked[:axis], symbol("?") if found is None else found, *asked[axis + 1 :])


def _anonymous_free(found: Size | None, whole: Shape) -> Size | None:
    """A product of dimensions, if all of them have names to show."""
    if found is None or isinstance(found, int):
        return found
    return found if all(one.name != "?" for one in symbols_of(found)) or found in whole else None


def _refuse(applied: Applied, whole: Shape, asked: Shape, rest: Size) -> None:
    operand = applied.args[0] if applied.args else applied.needed(0, "a", "operand")
    raise MisfitError(
        f"an array of shape {shape_text(whole)} has {written(product(whole))} elements, but shape {shape_text(asked)} needs "
        + (f"a multiple of {written(rest)}" if -1 in asked else written(rest)),
        (operand, whole),
        error="TypeError",
    )


@shapes("numpy.ravel numpy.flatten")
def ravel(applied: Applied) -> Result:
    return (product(applied.shape(0, "a")),)


@shapes("numpy.transpose numpy.permute_dims lax.transpose")
def transpose(applied: Applied) -> Result:
    shape = applied.shape(0, "a", "operand")
    if isinstance(applied.made.node, ast.Attribute) and applied.made.node.attr == "mT":
        return matrix_transposed(applied, shape)
    if len(applied.args) > 2:
        axes = applied.axes_of(TupleValue(list(applied.args[1:])), len(shape))
    elif applied.given(1, "axes", "permutation") is None:
        return shape[::-1]
    else:
        axes = applied.axes(len(shape), 1, "axes", "permutation")
    return tuple(shape[axis] for axis in axes) if len(axes) == len(shape) else applied.unclear()


def matrix_transposed(applied: Applied, shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else applied.unclear()


@shapes("numpy.matrix_transpose numpy.linalg.matrix_transpose")
def matrix_transpose(applied: Applied) -> Result:
    return matrix_transposed(applied, applied.shape(0, "x"))


@shapes("numpy.swapaxes")
def swapaxes(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    one, two = (applied.axis(len(shape), i, f"axis{i}") for i in (1, 2))
    changed = list(shape)
    changed[one], changed[two] = shape[two], shape[one]
    return tuple(changed)


@shapes("numpy.moveaxis")
def moveaxis(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    source = applied.axes(len(shape), 1, "source")
    target = applied.axes(len(shape), 2, "destination")
    if len(source) != len(target):
        applied.unclear()
    order = [axis for axis in range(len(shape)) if axis not in source]
    for there, here in sorted(zip(target, source, strict=True)):
        order.insert(there, here)
    return tuple(shape[axis] for axis in order)


@shapes("numpy.rot90")
def rot90(applied: Applied) -> Result:
    shape = applied.shape(0, "m")
    axes = applied.axes(len(shape), 2, "axes") if applied.given(2, "axes") is not None else (0, 1)
    turns = applied.number(1, "k", otherwise=1)
    if turns % 2 == 0 or len(axes) != 2 or len(shape) < 2:
        return shape
    changed = list(shape)
    changed[axes[0]], changed[axes[1]] = shape[axes[1]], shape[axes[0]]
    return tuple(changed)


@shapes("numpy.expand_dims lax.expand_dims")
def expand_dims(applied: Applied) -> Result:
    shape = applied.shape(0, "a", "array")
    rank = len(shape) + len(applied.numbers(1, "axis", "dimensions"))
    axes = applied.axes(rank, 1, "axis", "dimensions")
    rest = iter(shape)
    return tuple(1 if axis in axes else next(rest) for axis in range(rank))


@shapes("numpy.squeeze lax.squeeze")
def squeeze(applied: Applied) -> Result:
    shape = applied.shape(0, "a", "array")
    if applied.given(1, "axis", "dimensions") is None:
        if not all(isinstance(size, int) for size in shape):
            applied.unclear()
        return tuple(size for size in shape if size != 1)
    axes = applied.axes(len(shape), 1, "axis", "dimensions")
    for axis in axes:
        if differ(shape[axis], 1):
            raise MisfitError(
                f"axis {axis} of an array of shape {shape_text(shape)} has size {written(shape[axis])}, but only size 1 can be squeezed",
                (applied.needed(0, "a", "array"), shape),
            )
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


@shapes("numpy.broadcast_to lax.broadcast_to")
def broadcast_to(applied: Applied) -> Result:
    operand, asked = applied.needed(0, "array", "arr"), applied.sizes(1, "shape")
    whole = applied.of(operand)
    if whole is not None:
        for have, want in zip(whole[::-1], asked[::-1], strict=False):
            if differ(have, want) and differ(have, 1):
                raise MisfitError(
                    f"an array of shape {shape_text(whole)} does not broadcast to {shape_text(asked)}",
                    (operand, whole),
                )
    return asked


@shapes("lax.broadcast_in_dim")
def broadcast_in_dim(applied: Applied) -> Result:
    return applied.sizes(1, "shape")


@shapes("lax.broadcast")
def broadcast_of_lax(applied: Applied) -> Result:
    return (*applied.sizes(1, "sizes"), *applied.shape(0, "operand"))


@shapes("numpy.broadcast_arrays")
def broadcast_arrays(applied: Applied) -> Result:
    return [broadcast(applied, *applied.args)] * len(applied.args)


@shapes("lax.collapse")
def collapse(applied: Applied) -> Result:
    shape = applied.shape(0, "operand")
    start, stop = (
        applied.number(1, "start_dimension"),
        applied.number(2, "stop_dimension", otherwise=len(shape)),
    )
    if start < 0 or not start < stop <= len(shape):
        applied.unclear()
    return (*shape[:start], product(shape[start:stop]), *shape[stop:])


@shapes("numpy.tile")
def tile(applied: Applied) -> Result:
    shape, times = applied.shape(0, "A"), applied.sizes(1, "reps")
    rank = max(len(shape), len(times))
    one, two = (1,) * (rank - len(shape)) + shape, (1,) * (rank - len(times)) + times
    return tuple(multiply(a, b) for a, b in zip(one, two, strict=True))


@shapes("numpy.repeat")
def repeat(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    whole = applied.given(2, "axis") is None
    axis = 0 if whole else applied.axis(len(shape), 2, "axis")
    shape = (product(shape),) if whole else shape
    if applied.given(99, "total_repeat_length") is not None:
        size = applied.size(99, "total_repeat_length")
    else:
        times = constant(applied.needed(1, "repeats"))
        measured = applied.of(applied.needed(1, "repeats")) if not isinstance(times, int) else ()
        if type(times) is not int and measured != ():
            applied.unclear()
        size = multiply(shape[axis], applied.size(1, "repeats"))
    return (*shape[:axis], size, *shape[axis + 1 :])


@shapes("numpy.pad")
def pad(applied: Applied) -> Result:
    shape = applied.shape(0, "array")
    width = applied.needed(1, "pad_width")
    rows = applied.of(width)
    if rows == ():
        around = applied.size(1, "pad_width")
        return tuple(add(size, multiply(2, around)) for size in shape)
    each = applied.items(width)
    pairs: list[tuple[Size, Size]] = []
    for item in each:
        if isinstance(item, (ListValue, TupleValue)):
            sizes = applied.sizes_of(item)
            if len(sizes) not in (1, 2):
                applied.unclear()
            pairs.append((sizes[0], sizes[-1]))
    if not pairs and len(each) == 2:
        before, after = applied.sizes_of(width)
        pairs = [(before, after)]
    elif len(pairs) != len(each):
        applied.unclear()
    if len(pairs) == 1:
        pairs = pairs * len(shape)
    if len(pairs) != len(shape):
        applied.unclear()
    return tuple(total((size, before, after)) for size, (before, after) in zip(shape, pairs, strict=True))


@shapes("lax.pad")
def pad_of_lax(applied: Applied) -> Result:
    shape, config = applied.shape(0, "operand"), applied.const(applied.needed(2, "padding_config"))
    if not isinstance(config, tuple) or len(config) != len(shape):
        applied.unclear()
    found: list[Size] = []
    for size, (low, high, inside) in zip(shape, config, strict=True):
        between = multiply(subtract(size, 1), inside) if inside else 0
        found.append(total((size, low, high, between)))
    return tuple(found)


@shapes("numpy.diagonal")
def diagonal(applied: Applied) -> Result:
    shape = applied.shape(0, "a")
    one = applied.axis(len(shape), 2, "axis1", otherwise=0)
    two = applied.axis(len(shape), 3, "axis2", otherwise=1)
    rest = tuple(size for axis, size in enumerate(shape) if axis not in (one, two))
    return (*rest, _length_of_diagonal(shape[one], shape[two], applied.number(1, "offset", otherwise=0)))


def _length_of_diagonal(rows: Size, columns: Size, offset: int) -> Size:
    if isinstance(rows, int) and isinstance(columns, int):
        return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    return rows if rows == columns and not offset else symbol("?")


@shapes("numpy.diag")
def diag(applied: Applied) -> Result:
    shape, offset = applied.shape(0, "v"), applied.number(1, "k", otherwise=0)
    if len(shape) == 1:
        size = add(shape[0], abs(offset))
        return (size, size)
    return (_length_of_diagonal(*shape, offset),) if len(shape) == 2 else applied.unclear()


@shapes("numpy.resize")
def resize(applied: Applied) -> Result:
    return applied.sizes(1, "new_shape")


@shapes("image.resize")
def resize_image(applied: Applied) -> Result:
    return applied.sizes(1, "shape")


@shapes("lax.top_k numpy.top_k lax.approx_max_k lax.approx_min_k")
def top_k(applied: Applied) -> Result:
    if not {"axis", "reduction_dimension"}.isdisjoint(applied.kwargs) or len(applied.args) > 2:
        applied.unclear()
    found = (*applied.shape(0, "operand")[:-1], applied.size(1, "k"))
    return [found, found]


@shapes("ops.segment_sum ops.segment_max ops.segment_min ops.segment_prod")
def segments(applied: Applied) -> Result:
    shape, ids = applied.shape(0, "data"), applied.shape(1, "segment_ids")
    return (applied.size(2, "num_segments"), *shape[len(ids) :])


@shapes("numpy.bincount")
def bincount(applied: Applied) -> Result:
    return (applied.size(99, "length"),)
