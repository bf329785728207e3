"""Shapes of convolutions: strides, padding and dilation change the spatial axes."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.staging.shapes.applied import Applied, MisfitError, Result, shape_text, shapes
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import MISSING, Value
from jaxlint.staging.values.sizes import Size, symbol


@shapes("lax.conv lax.conv_general_dilated lax.conv_with_general_padding")
def convolution(applied: Applied) -> Result:
    """Batch, features and all spatial axes, if the layout is a string or omitted."""
    one, two = applied.needed(0, "lhs"), applied.needed(1, "rhs")
    left, right = (one, applied.shape_of(one)), (two, applied.shape_of(two))
    rank = len(left[1])
    if len(right[1]) != rank or rank < 2:
        applied.unclear()
    letters = "".join(chr(ord("0") + i) for i in range(rank - 2))
    layout: object = (f"NC{letters}", f"OI{letters}", f"NC{letters}")
    if applied.given(6, "dimension_numbers") is not None:
        layout = applied.const(applied.needed(6, "dimension_numbers"))
    if not isinstance(layout, tuple) or not all(
        isinstance(side, str) and len(side) == rank for side in layout
    ):
        applied.unclear()
    first, second, out = layout
    if applied.name == "lax.conv_general_dilated":
        _check_features(applied, left, right, first, second)
    places = "".join(letter for letter in out if letter not in "NC")
    around = spatial(
        [left[1][first.index(letter)] for letter in places],
        [right[1][second.index(letter)] for letter in places],
        _numbers(applied, 2, "window_strides"),
        _padding(applied),
        None if applied.given(4, "lhs_dilation") is None else (0,),
        _numbers(applied, 5, "rhs_dilation"),
    )
    found: list[Size] = []
    for letter in out:
        if letter == "N":
            found.append(left[1][first.index("N")])
        elif letter == "C":
            found.append(right[1][second.index("O")])
        else:
            found.append(around[places.index(letter)])
    return tuple(found)


_POOLS = "max_pool avg_pool min_pool".split()  # noqa: SIM905


@shapes(*(f"{library}.{name}" for library in ("flax.linen", "flax.nnx") for name in _POOLS))
def pool(applied: Applied) -> Result:
    """Windows over the axes before the features; the strides are 1 unless given."""
    applied.only("inputs", "window_shape", "strides", "padding", "count_include_pad")
    shape, window = applied.shape(0, "inputs"), applied.numbers(1, "window_shape")
    first = len(shape) - 1 - len(window)
    if first < 0:
        applied.unclear()
    around = spatial(shape[first:-1], window, _numbers(applied, 2, "strides"), _padding(applied, "VALID"))
    return (*shape[:first], *around, shape[-1])


@shapes(*(f"haiku.{name}" for name in _POOLS))
def aligned_pool(applied: Applied) -> Result:
    """Haiku's windows are those of the last axes, features included."""
    applied.only("value", "window_shape", "strides", "padding")
    shape = applied.shape(0, "value")
    window, steps = applied.numbers(1, "window_shape"), applied.numbers(2, "strides")
    padding = _padding(applied)
    whole = all(isinstance(applied.const(applied.needed(n, name)), tuple) for n, name in _HAIKU_WINDOWS)
    if not whole or len(window) != len(steps) or len(window) > len(shape) or not isinstance(padding, str):
        applied.unclear()
    first = len(shape) - len(window)
    return (*shape[:first], *spatial(shape[first:], window, steps, padding))


_HAIKU_WINDOWS = ((1, "window_shape"), (2, "strides"))


def _numbers(applied: Applied, position: int, name: str) -> object:
    """An option as a constant; 1 if it is not given, MISSING if it is unknown."""
    value = applied.given(position, name)
    return 1 if value is None else constant(value)


def _padding(applied: Applied, otherwise: object = MISSING) -> object:
    value = applied.given(3, "padding")
    return otherwise if value is None else constant(value)


def spatial(
    sizes: Sequence[Size],
    kernel: Sequence[Size],
    strides: object,
    padding: object,
    widened: object = None,
    dilation: object = 1,
) -> list[Size]:
    """The sizes of the spatial axes after a convolution or a pool; a symbol for each that is unknown.

    Options are constants: one for all axes or a tuple of one for each. `padding`: "SAME", "VALID", a number, or pairs.
    `widened`: the dilation of the input, which no rule follows.
    """
    steps, gaps = _each(strides, len(sizes)), _each(dilation, len(sizes))
    if len(kernel) != len(sizes) or steps is None or gaps is None or widened not in (None, 1):
        return [symbol("?") for _ in sizes]
    return [
        _after(size, wide, step, gap, _around(padding, axis, len(sizes)))
        for axis, (size, wide, step, gap) in enumerate(zip(sizes, kernel, steps, gaps, strict=True))
    ]


def _after(size: Size, wide: Size, step: int, gap: int, around: str | int | None) -> Size:
    if step < 1 or around is None:
        return symbol("?")
    if around == "SAME":
        if step == 1:
            return size
        return -(-size // step) if isinstance(size, int) else symbol("?")
    if not isinstance(size, int) or not isinstance(wide, int) or isinstance(around, str):
        return symbol("?")
    return max(0, (size + around - gap * (wide - 1) - 1) // step + 1)


def _around(padding: object, axis: int, count: int) -> str | int | None:
    """The number of elements that padding adds to an axis, or "SAME"; None if it is unknown."""
    if isinstance(padding, str):
        if padding.upper() == "VALID":
            return 0
        return "SAME" if padding.upper() in ("SAME", "CIRCULAR") else None
    if type(padding) is int:
        return 2 * padding
    if not isinstance(padding, tuple) or len(padding) != count:
        return None
    part = padding[axis]
    if type(part) is int:
        return 2 * part
    if not isinstance(part, tuple) or len(part) != 2 or not all(type(one) is int for one in part):
        return None
    return int(part[0] + part[1])


def _each(option: object, count: int) -> tuple[int, ...] | None:
    """One number for each axis."""
    if type(option) is int:
        return (option,) * count
    if isinstance(option, tuple) and len(option) == count and all(type(one) is int for one in option):
        return option
    return None


def _check_features(
    applied: Applied, left: tuple[Value, Shape], right: tuple[Value, Shape], one: str, two: str
) -> None:
    """Raises MisfitError if the features of the input and of the kernel certainly differ."""
    if applied.given(8, "batch_group_count") is not None or "C" not in one or "I" not in two:
        return
    groups = applied.number(7, "feature_group_count", otherwise=1)
    features, expected = left[1][one.index("C")], right[1][two.index("I")]
    if isinstance(features, int) and isinstance(expected, int) and features != expected * groups:
        raise MisfitError(
            f"the kernel {shape_text(right[1])} ({two}) takes {expected * groups} features, the input "
            f"{shape_text(left[1])} ({one}) has {features}",
            left,
            right,
        )
