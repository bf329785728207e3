"""The carry of a loop: the carry in a step's result, its dtypes, and the final carry."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from jaxlint.staging.shapes.agreement import like_start
from jaxlint.staging.values import UNKNOWN, Array, DictValue, ListValue, TupleValue, Value, map_parts
from jaxlint.staging.values.dtypes import dtype_of


def is_pair(value: Value) -> TypeGuard[TupleValue]:
    return isinstance(value, TupleValue) and value.items is not None and len(value.items) == 2


def first_of_pair(value: Value) -> Value:
    """The carry of a scan step's result."""
    return value.items[0] if is_pair(value) and value.items else UNKNOWN


def given_way(leaf: Value, result: Value) -> Value:
    """A leaf of a carry. If its own dtype is weak, it gets the dtype that the body returns."""
    if not isinstance(leaf, Array) or not leaf.dtype.endswith("*") or dtype_of(result) == leaf.dtype:
        return leaf
    return replace(leaf, dtype=dtype_of(result))


def without_operation(value: Value, depth: int = 3) -> Value:
    if isinstance(value, Array) and value.made is not None:
        return replace(value, made=None)
    if isinstance(value, (TupleValue, ListValue, DictValue)) and depth > 0:
        return map_parts(value, lambda part: without_operation(part, depth - 1))
    return value


def as_large_as(init: Value, result: Value, depth: int = 4) -> Value:
    """The final carry of a loop: its leaves have the shapes and dtypes of the initial ones."""
    if isinstance(init, Array) and isinstance(result, Array):
        like = init.like or init.origin
        return result if init.tree or result.tree or like is None else replace(result, like=like)
    if isinstance(init, TupleValue) and isinstance(result, TupleValue) and init.items and result.items:
        if depth > 0 and len(init.items) == len(result.items):
            pairs = zip(init.items, result.items, strict=True)
            items = [as_large_as(first, last, depth - 1) for first, last in pairs]
            return replace(result, items=items)
    return result


def final_carry(init: Value, carry: Value, result: Value, exact: bool) -> Value:
    """What a loop returns for the `carry` that its body got and the `result` of the body."""
    final = as_large_as(init, result)
    return like_start(carry, final) if exact else final
