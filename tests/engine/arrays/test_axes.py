"""Where the axes of an array come from: each axis has a size of its own here, which says which one it is."""

from __future__ import annotations

import ast

import jax.numpy as jnp
import pytest

from jaxlint.staging.shapes.axes import Axis, _before, merged_axes, sizes_swapped, walk_axis
from jaxlint.staging.values import UNKNOWN, Array, ExternalObject, Operation, Static, TupleValue, Value

NODE = ast.Constant(0)


def made(name: str, *args: Value, **kwargs: Value) -> Array:
    full = f"jax.nn.{name}" if name == "softmax" else ""
    return Array(True, dtype="float32", made=Operation(name, args, kwargs, NODE, full=full))


def sizes(*numbers: int) -> TupleValue:
    return TupleValue([Static(number) for number in numbers])


def zeros(*numbers: int) -> Array:
    return made("zeros", sizes(*numbers))


def everything() -> Value:
    return ExternalObject("builtins.slice", [Static(None)])


SINGLE = {
    "exp": (made("exp", zeros(2, 3, 5)), (2, 3, 5)),
    "softmax": (made("softmax", zeros(2, 3, 5), axis=Static(0)), (2, 3, 5)),
    "transpose": (made("transpose", zeros(2, 3, 5)), (5, 3, 2)),
    "permuted": (made("transpose", zeros(2, 3, 5), sizes(1, 2, 0)), (3, 5, 2)),
    "method": (made("transpose", zeros(2, 3, 5), Static(2), Static(0), Static(1)), (5, 2, 3)),
    "swapaxes": (made("swapaxes", zeros(2, 3, 5), Static(0), Static(-1)), (5, 3, 2)),
    "moveaxis": (made("moveaxis", zeros(2, 3, 5), Static(0), Static(2)), (3, 5, 2)),
    "expand_dims": (made("expand_dims", zeros(2, 3), Static(1)), (2, 1, 3)),
    "squeeze": (made("squeeze", zeros(2, 1, 3), Static(1)), (2, 3)),
    "sum": (made("sum", zeros(2, 3, 5), axis=Static(1)), (2, 5)),
    "mean": (made("mean", zeros(2, 3, 5, 7), axis=sizes(0, -1)), (3, 5)),
    "kept": (made("sum", zeros(2, 3), axis=Static(1), keepdims=Static(True)), (2, 1)),
    "flattened": (made("reshape", zeros(2, 3, 5, 7), sizes(2, 15, 7)), (2, 15, 7)),
    "item": (made("getitem", zeros(2, 3, 5, 7), TupleValue([everything(), Static(0)])), (2, 5, 7)),
    "column": (made("getitem", zeros(2, 3), TupleValue([everything(), Static(None)])), (2, 1, 3)),
    "einsum": (made("einsum", Static("abc,cd->bad"), zeros(2, 3, 5), zeros(5, 7)), (3, 2, 7)),
    "matmul": (made("matmul", zeros(2, 3, 5), zeros(5, 7)), (2, 3, 7)),
    "batched": (made("matmul", zeros(11, 3, 5), zeros(11, 5, 7)), (11, 3, 7)),
    "broadcast": (made("add", zeros(2, 3, 5), zeros(3, 1)), (2, 3, 5)),
    "picked": (made("take_along_axis", zeros(2, 3), zeros(2, 1), axis=Static(1)), (2, 1)),
}


@pytest.mark.parametrize("case", SINGLE)
def test_an_axis_comes_from_those_of_its_size(case: str) -> None:
    result, shape = SINGLE[case]
    for number, size in enumerate(shape):
        before = _before(Axis(result, number))
        found = {one.array.made.args[0].items[one.number].const for one in before if one.array.made}
        whole = {one.const for part in result.made.args for one in _sizes(part)} if result.made else set()
        assert found == ({size} & whole if size != 1 else set()), (case, number)


def _sizes(part: Value) -> list[Static]:
    known = part.made.args[0] if isinstance(part, Array) and part.made is not None else None
    return (
        [one for one in known.items or () if isinstance(one, Static)] if isinstance(known, TupleValue) else []
    )


def test_a_contraction_is_remembered() -> None:
    weights = made("softmax", zeros(2, 3), axis=Static(0))
    pooled = made("einsum", Static("bt,btd->bd"), weights, zeros(2, 3, 5))
    scaled = made("multiply", weights, zeros(2, 1))
    assert [axis.summed for axis in walk_axis(pooled, 0) if axis.array is weights] == [True]
    assert [axis.summed for axis in walk_axis(scaled, 0) if axis.array is weights] == [False]


def test_the_order_in_which_axes_are_merged() -> None:
    flat = made("reshape", zeros(2, 3, 5), sizes(6, 5))
    assert merged_axes(made("exp", flat), 0) is not None
    found = merged_axes(made("exp", flat), 0)
    assert found is not None
    assert found[0] == (2, 3)
    assert merged_axes(flat, 1) is None
    assert merged_axes(made("reshape", zeros(6, 5), sizes(2, 3, 5)), 0) is None


def test_what_is_unknown_comes_from_nowhere() -> None:
    for value in (
        made("fft", zeros(2, 3)),
        made("getitem", zeros(2, 3), UNKNOWN),
        made("einsum", Static("...t,td->...d"), zeros(2, 3), zeros(3, 5)),
        made("sum", zeros(2, 3), axis=UNKNOWN),
        made("transpose", zeros(2, 3), UNKNOWN),
    ):
        assert _before(Axis(value, 0)) == []


def test_a_reshape_that_exchanges_two_sizes() -> None:
    assert sizes_swapped((2, 3, 5), (3, 2, 5)) == (2, 3)
    for before, after in (
        ((2, 3), (2, 3)),
        ((2, 3), (6, 1)),
        ((1, 3), (3, 1)),
        ((2, 3, 5), (5, 3, 2)),
        ((2, 3), (6,)),
    ):
        assert sizes_swapped(before, after) is None
    x = jnp.arange(6).reshape(2, 3)
    assert not (x.reshape(3, 2) == x.T).all()
