"""Masks before a softmax: whether they hide whole rows."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.api.values import Array, Operation, TupleValue, Value, constant, is_none, symbolic_shape
from jaxlint_rules.numerics._expressions import made, number


def hides_rows(softmax: Operation) -> bool:
    """Whether a factor of the mask is the same along the axis of the softmax, so that it hides rows as a whole:
    `softmax(where(valid[:, None], scores, -inf))`."""
    axis = softmax.operand(1, "axis")
    if (axis is not None and constant(axis) != -1) or "where" in softmax.kwargs or not softmax.args:
        return False
    masked = softmax.args[0]
    total = made(masked, "add")
    return any(
        _is_same_along_rows(factor)
        for part in (masked, *(total.args if total is not None else ()))
        for factor in _shown(part)
    )


def _shown(value: Value) -> Iterator[Value]:
    """The factors of the condition under which a value is not minus infinity."""
    chosen = made(value, "where")
    if chosen is None or len(chosen.args) != 3 or number(chosen.args[2]) != float("-inf"):
        return
    waiting = [chosen.args[0]]
    while waiting:
        factor = waiting.pop()
        both = made(factor, "bitwise_and", "logical_and", "multiply")
        if both is None:
            yield factor
        else:
            waiting += both.args


def _is_same_along_rows(factor: Value) -> bool:
    if not isinstance(factor, Array) or not factor.certain:
        return False
    shape = symbolic_shape(factor)
    if shape is not None:
        return len(shape) > 1 and shape[-1] == 1
    item = made(factor, "getitem", "expand_dims")
    if item is None:
        return False
    if item.name == "expand_dims":
        return constant(item.args[-1]) == -1
    index = item.args[-1]
    if not isinstance(index, TupleValue) or not index.items:
        return False
    return is_none(index.items[-1])
