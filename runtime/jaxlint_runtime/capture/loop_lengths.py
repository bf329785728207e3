"""How often the `for` loops of a function run, read from its variables at the end of a call."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterable, Mapping
from typing import Any

from jaxlint.syntax.function_bodies import own_nodes

_SIZED = (list, tuple, dict, set, frozenset, range, collections.deque)
_MISSING = object()


def loops_of(definition: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """What the loops of a function run over."""
    return [node.iter for node in own_nodes(definition) if isinstance(node, ast.For)]


def lengths_of_loops(loops: Iterable[ast.expr], names: Mapping[str, Any]) -> dict[str, int]:
    """How often loops run, by what they run over; those that a look at the variables shows. Calls no code of the program."""
    found = {}
    for one in loops:
        length = _length(one, names)
        if length is not None:
            found[ast.unparse(one)] = length
    return found


def _length(node: ast.expr, names: Mapping[str, Any]) -> int | None:
    if not isinstance(node, ast.Call):
        return _size(_value(node, names))
    if isinstance(node.func, ast.Attribute):
        held = _value(node.func.value, names)
        return len(held) if type(held) is dict and node.func.attr in ("items", "values", "keys") else None
    name = getattr(node.func, "id", "")
    if name in names:
        return None
    if name == "range":
        numbers = [_value(one, names) for one in node.args]
        whole = bool(numbers) and len(numbers) < 4 and all(type(one) is int for one in numbers)
        return len(range(*numbers)) if whole and 0 not in numbers[2:] else None
    if name == "zip" and node.args:
        lengths = [_length(one, names) for one in node.args]
        return min((one for one in lengths if one is not None), default=None)
    return _length(node.args[0], names) if name == "enumerate" and node.args else None


def _size(value: Any) -> int | None:
    if type(value) in _SIZED:
        return len(value)
    shape = getattr(value, "shape", None) if type(value).__module__.startswith(("jax", "numpy")) else None
    return shape[0] if isinstance(shape, tuple) and shape and type(shape[0]) is int else None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What variables, attributes of objects and items of containers hold; no property is asked."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id, _MISSING)
    if isinstance(node, ast.Call):
        counts = getattr(node.func, "id", "") == "len" and "len" not in names and len(node.args) == 1
        return _size(_value(node.args[0], names)) if counts else _MISSING
    if isinstance(node, ast.Attribute):
        held = getattr(_value(node.value, names), "__dict__", None)
        return held.get(node.attr, _MISSING) if isinstance(held, Mapping) else _MISSING
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        held, key = _value(node.value, names), node.slice.value
        if type(held) is dict:
            return held.get(key, _MISSING)
        if type(held) in (list, tuple) and type(key) is int and -len(held) <= key < len(held):
            return held[key]
    return _MISSING
