"""What the rows that were added to an array hold after one equation, by the rows that its operands hold.

The entries of the original are the same in the longer array: a rule raises `Blocked` if they would not be.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


class Fill(enum.Enum):
    """What all added entries of an array hold. In an array with no added entries: ZERO if all of it is zero, else FINITE."""

    ZERO = "zero"
    FINITE = "finite"  # some number
    OUTSIDE = "outside"  # an index beyond every axis
    NAN = "nan"  # perhaps no number


@dataclass(frozen=True, slots=True)
class Known:
    """One value. `size`: it is a length that was padded, and not of use for the original; `beyond`: the index, of which it is the
    value plus a length; `negative`: the index of which it tells whether it is negative."""

    fill: Fill = Fill.FINITE
    size: bool = False
    beyond: Any = None
    negative: Any = None


class Blocked(Exception):
    """The padded program would give other results. `reduces`: a sum, mean or the like over the axis is the reason."""

    def __init__(self, reason: str, reduces: bool = False) -> None:
        super().__init__(reason)
        self.reduces = reduces


@dataclass(frozen=True, slots=True)
class Step:
    """An equation: its parameters; for each operand and result the group of each padded axis, the shape, and the operand's variable.
    `masked`: the program will mask its reduction."""

    name: str
    params: Mapping[str, Any]
    axes: Sequence[Mapping[int, int]]
    results: Sequence[Mapping[int, int]]
    shapes: Sequence[tuple[int, ...]]
    result_shapes: Sequence[tuple[int, ...]]
    variables: Sequence[Any]
    masked: bool = False


_KEEPS_ZERO = frozenset(
    [
        "neg",
        "sin",
        "tan",
        "tanh",
        "asin",
        "atan",
        "sinh",
        "asinh",
        "atanh",
        "abs",
        "sign",
        "floor",
        "ceil",
        "round",
        "sqrt",
        "cbrt",
        "expm1",
        "log1p",
        "erf",
        "copy",
        "copy_p",
        "real",
        "imag",
        "conj",
        "stop_gradient",
        "reduce_precision",
        "square",
        "optimization_barrier",
        "sharding_constraint",
        "pvary",
    ]
)
_NUMBERS = frozenset(
    [
        "exp",
        "exp2",
        "log",
        "cos",
        "cosh",
        "acos",
        "acosh",
        "logistic",
        "rsqrt",
        "not",
        "erf_inv",
        "erfc",
        "lgamma",
        "digamma",
        "is_finite",
        "pow",
        "nextafter",
        "clamp",
        "population_count",
        "shift_left",
        "shift_right_logical",
        "shift_right_arithmetic",
        "atan2",
        "rem",
    ]
)
_NO_NUMBER_OF_ZERO = frozenset({"div", "rem", "log", "rsqrt"})  # of a last operand that is zero
_BOTH_ZERO = frozenset({"add", "add_any", "sub", "or", "xor", "max", "min", "gt", "lt", "ne"})
_COMPARES = frozenset({"eq", "ge", "le"})
_EITHER_ZERO = frozenset({"mul", "and"})
_REDUCES = frozenset(
    {"reduce_sum", "reduce_max", "reduce_min", "reduce_or", "reduce_and", "reduce_prod", "argmax", "argmin"}
)
_SUMS = frozenset({"reduce_sum", "reduce_or"})
_CUMULATIVE = frozenset({"cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"})
_SCATTERS = frozenset({"scatter", "scatter-mul", "scatter-min", "scatter-max"})
_MOVES = frozenset({"squeeze", "expand_dims", "transpose"})
_WIDE = 4  # bytes of an integer that holds an index beyond every axis

Rule = Callable[[Step, Sequence[Known]], Fill]


def joined(fills: Sequence[Fill]) -> Fill:
    """The fill of an array with entries of several."""
    if Fill.NAN in fills:
        return Fill.NAN
    return fills[0] if len(set(fills)) == 1 else Fill.FINITE


def after(step: Step, operands: Sequence[Known]) -> Known:
    """The result of an equation; the same for each, if it has several. Raises Blocked."""
    special = _of_index(step, operands)
    if special is not None:
        return special
    if any(one.size or one.beyond is not None for one in operands):
        if not step.masked:
            raise Blocked(f"`{step.name}` uses the length", reduces=step.name in ("div", "mul"))
        operands = [Known() for _ in operands]
    fills = [one.fill for one in operands]
    if not any(step.axes) and not any(step.results):
        if step.name == "broadcast_in_dim":
            return Known(fills[0])
        zero = step.name in _KEEPS_ZERO | _BOTH_ZERO and set(fills) == {Fill.ZERO}
        return Known(Fill.ZERO if zero else Fill.FINITE)
    rule = _RULES.get(step.name)
    if rule is None:
        raise Blocked(f"`{step.name}` runs over the axis")
    found = rule(step, operands)
    if step.masked and any(step.results):
        return Known(Fill.ZERO)
    return Known(found if any(step.results) or found is Fill.NAN else Fill.FINITE)


def _of_index(step: Step, operands: Sequence[Known]) -> Known | None:
    """`x[i]` counts negative indices from the end: `select(i < 0, i, i + n)`. The program's indices are not negative there."""
    name = step.name
    if name == "add" and any(one.size for one in operands) and not all(one.size for one in operands):
        (place,) = [n for n, one in enumerate(operands) if not one.size]
        return Known(operands[place].fill, beyond=step.variables[place])
    if name == "lt" and operands[1].fill is Fill.ZERO and not step.axes[1]:
        return Known(_compared(step, operands), negative=step.variables[0])
    if name == "select_n" and len(operands) == 3:
        mask, usual, other = operands
        if other.beyond is not None and mask.negative is other.beyond is step.variables[1]:
            return usual
    return None


def _elementwise(step: Step, operands: Sequence[Known]) -> Fill:
    fills = [one.fill for one in operands]
    name = step.name
    if Fill.NAN in fills or (fills[-1] is Fill.ZERO and name in _NO_NUMBER_OF_ZERO):
        return Fill.NAN
    if name == "integer_pow" and step.params["y"] < 0 and fills[0] is Fill.ZERO:
        return Fill.NAN
    if name in _KEEPS_ZERO or (name == "integer_pow" and step.params["y"] > 0):
        return Fill.ZERO if fills[0] is Fill.ZERO else _same_index(name, fills[0])
    if name in _EITHER_ZERO:
        return Fill.ZERO if Fill.ZERO in fills else Fill.FINITE
    if name in _BOTH_ZERO or name in _COMPARES:
        return _compared(step, operands)
    return Fill.ZERO if name == "div" and fills[0] is Fill.ZERO else Fill.FINITE


def _same_index(name: str, fill: Fill) -> Fill:
    return fill if name in ("copy", "copy_p", "stop_gradient", "optimization_barrier") else Fill.FINITE


def _compared(step: Step, operands: Sequence[Known]) -> Fill:
    fills = [one.fill for one in operands]
    if step.name in _BOTH_ZERO and set(fills) == {Fill.ZERO}:
        return Fill.ZERO
    beyond = fills.count(Fill.OUTSIDE) == 1
    if beyond and (step.name == "eq" or (step.name == "lt" and fills[0] is Fill.OUTSIDE)):
        return Fill.ZERO  # an index beyond every axis equals none that the program computes
    return Fill.FINITE


def _convert(step: Step, operands: Sequence[Known]) -> Fill:
    dtype = (
        np.dtype(step.params["new_dtype"]) if isinstance(step.params["new_dtype"], (type, np.dtype)) else None
    )
    fill = operands[0].fill
    if fill is Fill.OUTSIDE:
        wide = dtype is not None and dtype.kind in "iu" and dtype.itemsize >= _WIDE
        return fill if wide else Fill.FINITE
    return fill


def _select(step: Step, operands: Sequence[Known]) -> Fill:
    mask, *cases = operands
    if step.axes[0] and mask.fill is Fill.ZERO:  # False for all added entries
        return cases[0].fill
    return joined([one.fill for one in cases])


def _broadcast(step: Step, operands: Sequence[Known]) -> Fill:
    fill = operands[0].fill
    if not step.axes[0]:
        return Fill.ZERO if fill is Fill.ZERO else Fill.FINITE
    if len(step.results[0]) > len(step.axes[0]):
        return Fill.NAN if fill is Fill.NAN else Fill.FINITE
    return fill


def _move(step: Step, operands: Sequence[Known]) -> Fill:
    return operands[0].fill


def _reshape(step: Step, operands: Sequence[Known]) -> Fill:
    before, shape = step.shapes[0], step.result_shapes[0]
    for axis, group in step.axes[0].items():
        rows = math.prod(before[:axis])
        if not any(one == group and math.prod(shape[:to]) == rows for to, one in step.results[0].items()):
            raise Blocked("`reshape` joins the axis with another")
    return operands[0].fill


def _reverse(step: Step, operands: Sequence[Known]) -> Fill:
    if set(step.params["dimensions"]) & set(step.axes[0]):
        raise Blocked("the axis is reversed")
    return operands[0].fill


def _reduce(step: Step, operands: Sequence[Known]) -> Fill:
    fill, over = operands[0].fill, set(step.params["axes"]) & set(step.axes[0])
    if over and not step.masked and not (step.name in _SUMS and fill is Fill.ZERO):
        raise Blocked(f"`{step.name}` runs over the axis", reduces=True)
    if over and len(operands) > 1:
        raise Blocked(f"`{step.name}` runs over the axis")
    if fill is Fill.NAN:
        if over:
            raise Blocked(f"`{step.name}` may read a row that is no number")
        return fill
    return Fill.ZERO if fill is Fill.ZERO and not step.name.startswith("arg") else Fill.FINITE


def _cumulative(step: Step, operands: Sequence[Known]) -> Fill:
    fill = operands[0].fill
    if step.params["axis"] not in step.axes[0]:
        return Fill.ZERO if fill is Fill.ZERO and step.name != "cumlogsumexp" else joined([fill, Fill.FINITE])
    if step.params["reverse"] and (step.name != "cumsum" or fill is not Fill.ZERO):
        raise Blocked(f"`{step.name}` runs backwards over the axis")
    return Fill.NAN if fill is Fill.NAN else Fill.FINITE


def _product(step: Step, operands: Sequence[Known]) -> Fill:
    fills = [one.fill for one in operands]
    contracted, batched = step.params["dimension_numbers"]
    over = [set(axes) & set(one) for axes, one in zip(contracted, step.axes, strict=True)]
    if Fill.NAN in fills:
        raise Blocked("a product may read a row that is no number")
    if any(over) and not any(mine and fill is Fill.ZERO for mine, fill in zip(over, fills, strict=True)):
        raise Blocked("a product sums over the axis")
    left = [set(one) - mine for one, mine in zip(step.axes, over, strict=True)]
    shared = bool(left[0] & set(batched[0])) and bool(left[1] & set(batched[1]))
    zero = [not mine or fill is Fill.ZERO for mine, fill in zip(left, fills, strict=True)]
    only_batch = left[0] <= set(batched[0]) and left[1] <= set(batched[1])
    if shared and only_batch and Fill.ZERO in fills:
        return Fill.ZERO
    return Fill.ZERO if all(zero) and any(left) else Fill.FINITE


def _concatenate(step: Step, operands: Sequence[Known]) -> Fill:
    if any(step.params["dimension"] in axes for axes in (*step.axes, *step.results)):
        raise Blocked("the axis is concatenated with another")
    fills = [one.fill for one, axes in zip(operands, step.axes, strict=True) if axes]
    return joined(fills)


def _split(step: Step, operands: Sequence[Known]) -> Fill:
    if step.params["axis"] in step.axes[0]:
        raise Blocked("the axis is split")
    return operands[0].fill


def _slice(step: Step, operands: Sequence[Known]) -> Fill:
    if step.axes[0] != step.results[0]:
        raise Blocked("part of the axis is read")
    return operands[0].fill


def _set_slice(step: Step, operands: Sequence[Known]) -> Fill:
    if step.axes[0] != step.axes[1]:
        raise Blocked("part of the axis is set")
    return joined([operands[0].fill, operands[1].fill])


def _iota(step: Step, operands: Sequence[Known]) -> Fill:
    return Fill.FINITE


def _rowwise(step: Step, operands: Sequence[Known]) -> Fill:
    axis = step.params.get("dimension", len(step.shapes[0]) - 1)
    if any(axis in axes for axes in step.axes):
        raise Blocked(f"`{step.name}` runs over the axis")
    return joined([*(one.fill for one in operands), Fill.FINITE])


def _gather(step: Step, operands: Sequence[Known]) -> Fill:
    numbers, sizes = step.params["dimension_numbers"], step.params["slice_sizes"]
    for axis in step.axes[0]:
        taken = axis in numbers.start_index_map or axis in numbers.operand_batching_dims
        if not taken and sizes[axis] != step.shapes[0][axis]:
            raise Blocked("part of the axis is read")
        if taken and sizes[axis] != 1:
            raise Blocked("several rows are read at once")
    fills = []
    if step.axes[1]:
        fills.append(_read(operands[1].fill, operands[0].fill, step))
    if set(step.axes[0]) - set(numbers.collapsed_slice_dims) - set(numbers.operand_batching_dims):
        fills.append(operands[0].fill)
    if not fills:  # rows that the program reads by indices of its own
        return Fill.FINITE
    return joined(fills)


def _read(index: Fill, array: Fill, step: Step) -> Fill:
    """What is read at the indices that were added."""
    if array is Fill.NAN:
        return Fill.NAN
    if "FILL" not in str(step.params["mode"]) or index is Fill.ZERO:
        return Fill.FINITE  # the nearest row
    value = step.params["fill_value"]
    if value is None or value != 0:
        return Fill.NAN
    return Fill.ZERO if index is Fill.OUTSIDE else Fill.FINITE


def _scatter(step: Step, operands: Sequence[Known]) -> Fill:
    array, index, updates = (one.fill for one in operands)
    window = step.params["dimension_numbers"].update_window_dims
    adds = step.name in ("scatter-add", "scatter_add")
    if set(step.axes[2]) - set(window) or step.axes[1]:
        dropped = index is Fill.OUTSIDE and "FILL" in str(step.params["mode"])
        if not dropped and not (adds and updates is Fill.ZERO):
            raise Blocked("rows are added at indices of rows that do not exist")
    for axis in set(step.axes[2]) & set(window):
        if step.axes[2][axis] not in step.axes[0].values():
            raise Blocked("part of the axis is set")
    whole = not set(step.axes[2]) & set(window) or updates is Fill.ZERO
    if array is Fill.NAN:
        return Fill.NAN
    return Fill.ZERO if array is Fill.ZERO and whole else Fill.FINITE


_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        _KEEPS_ZERO | _NUMBERS | _BOTH_ZERO | _EITHER_ZERO | _COMPARES | {"integer_pow", "div"}, _elementwise
    ),
    **dict.fromkeys(_REDUCES, _reduce),
    **dict.fromkeys(_CUMULATIVE, _cumulative),
    **dict.fromkeys({*_SCATTERS, "scatter-add", "scatter_add"}, _scatter),
    **dict.fromkeys(_MOVES, _move),
    **dict.fromkeys(("slice", "dynamic_slice"), _slice),
    **dict.fromkeys(("sort", "top_k"), _rowwise),
    "convert_element_type": _convert,
    "select_n": _select,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "rev": _reverse,
    "dot_general": _product,
    "concatenate": _concatenate,
    "split": _split,
    "dynamic_update_slice": _set_slice,
    "iota": _iota,
    "gather": _gather,
}
