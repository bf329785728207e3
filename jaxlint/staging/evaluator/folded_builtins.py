"""Builtins of known arguments, in an exact analysis: `all`, `sum`, `max`, `sorted` of numbers, and sums of arrays."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from jaxlint.staging.evaluator.operators import Operators
from jaxlint.staging.values import (
    MISSING,
    UNKNOWN,
    Array,
    DictValue,
    ListValue,
    NumpyArray,
    Operation,
    StarArgument,
    Static,
    TupleValue,
    Value,
    constant,
)
from jaxlint.staging.values.call import Call
from jaxlint.staging.values.truth import truth

_MOST_ITEMS = 300
_LARGEST = 1e9
_OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "divmod": divmod,
    "max": max,
    "min": min,
    "round": round,
    "sorted": sorted,
    "sum": sum,
}


def folded(name: str, call: Call, operators: Operators) -> Value | None:
    """The result of a builtin; None if its arguments do not decide it."""
    if call.kwargs or not call.args:
        return None
    if name in ("all", "any"):
        return _of_truths(name, call)
    if name == "abs" and isinstance(call.args[0], NumpyArray):
        made = Operation("absolute", (call.args[0],), {}, call.node)
        return NumpyArray(dtype=call.args[0].dtype, made=made)
    if name == "abs" and isinstance(call.args[0], Array) and not call.args[0].tree:
        result = operators.array_result(call.frame, call.args, call.node, like=call.args[0])
        operators.machine.tracking.made_by(result, "absolute", call)
        return result
    if name not in _OF_NUMBERS:
        return None
    given = [_plain(value) for value in call.args]
    if MISSING not in given:
        try:
            return _value_of(_OF_NUMBERS[name](*given))
        except (TypeError, ValueError, ArithmeticError):
            return None
    return _sum(call, operators) if name == "sum" else None


def _of_truths(name: str, call: Call) -> Value | None:
    items = _items(call.args[0])
    known = [truth(item) for item in items or ()]
    if items is None or len(call.args) > 1:
        return None
    if (name == "any") in known:
        return Static(name == "any")
    return None if None in known else Static(name == "all")


def _sum(call: Call, operators: Operators) -> Value | None:
    """The sum of arrays and numbers. Of arrays of unknown number at least one is there."""
    items = _items(call.args[0])
    if isinstance(call.args[0], ListValue) and call.args[0].items is None:
        items = [call.args[0].element]
    if not items or not all(isinstance(item, (Array, Static)) for item in items):
        return None
    total = call.args[1] if len(call.args) > 1 else Static(0)
    if isinstance(total, (ListValue, TupleValue)):
        return None
    for item in items:
        total = operators.binary(total, item, ast.Add(), call.node, call.frame)
    return total


def _items(value: Value) -> list[Value] | None:
    """The items of a sequence, an iterator or the keys of a dict, if they are known and few."""
    if isinstance(value, DictValue):
        whole = value.element is None and not value.optional
        return [Static(key) for key in value.items] if whole else None
    items = value.items if isinstance(value, (ListValue, TupleValue)) else None
    if items is None or len(items) > _MOST_ITEMS or any(isinstance(item, StarArgument) for item in items):
        return None
    return items


def _plain(value: Value) -> Any:
    """A number, a text, or a sequence of them, as Python has it; MISSING for anything else."""
    if isinstance(value, Static):
        const = constant(value)
        small = not isinstance(const, (int, float)) or abs(const) < _LARGEST
        return const if isinstance(const, (bool, int, float, str)) and small else MISSING
    items = _items(value)
    parts = [_plain(item) for item in items] if items is not None else [MISSING]
    return MISSING if MISSING in parts else tuple(parts) if isinstance(value, TupleValue) else parts


def _value_of(found: Any) -> Value:
    if isinstance(found, list):
        return ListValue([_value_of(item) for item in found], UNKNOWN)
    if isinstance(found, tuple):
        return TupleValue([_value_of(item) for item in found])
    return Static(found)
