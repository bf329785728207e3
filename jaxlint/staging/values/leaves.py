"""Pytrees with known structure: their leaves in JAX's order, and the same structure with other leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.objects import (
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    Function,
    Instance,
    ListValue,
    Partial,
    TupleValue,
)
from jaxlint.staging.values.plain import StarArgument, Static, Unknown, Value, is_none
from jaxlint.staging.values.pytrees import flattening, is_pytree, leaf_attributes, registration

MOST_NODES = 300  # of one tree
IsLeaf = Callable[[Value], bool | None]
_LEAVES = (Static, Function, BoundMethod, Partial, External, ClassValue)


class UnclearTreeError(Exception):
    """The structure of a tree is unknown."""


def children(value: Value) -> dict[object, Value] | None:
    """The children of a node by name, in JAX's order; None for a leaf. Raises UnclearTreeError if they are unknown."""
    if is_none(value):
        return {}
    if isinstance(value, (TupleValue, ListValue)):
        sequence = not isinstance(value, ListValue) or value.kind in ("list", "")
        if value.items is None or not sequence or any(isinstance(i, StarArgument) for i in value.items):
            raise UnclearTreeError
        return dict(enumerate(value.items))
    if isinstance(value, DictValue):
        if value.element is not None or value.optional:
            raise UnclearTreeError
        names = list(value.items)
        if all(isinstance(name, str) for name in names) or all(isinstance(name, int) for name in names):
            names.sort()
        return {name: value.items[name] for name in names}
    if isinstance(value, Instance):
        return _fields(value)
    if isinstance(value, (Array, NumpyArray)):
        if isinstance(value, Array) and value.tree:
            raise UnclearTreeError
        return None
    if isinstance(value, _LEAVES):
        return None
    raise UnclearTreeError


def _fields(value: Instance) -> dict[object, Value] | None:
    """The fields of an object, as children."""
    if not is_pytree(value.cls):
        return None
    flatten = flattening(value.cls)
    declared = value.cls.all_fields()
    if flatten is not None:
        names = leaf_attributes(flatten)
    elif registration(value.cls) is not None:
        names = None
    else:
        names = [name for name, field in declared.items() if not field.static]
    if names is None or not (names or flatten is not None) or not value.fields.keys() >= set(names):
        raise UnclearTreeError
    return {name: value.fields[name] for name in names}


def with_children(value: Value, parts: dict[object, Value]) -> Value:
    """A node like `value` with other children."""
    if isinstance(value, TupleValue):
        return TupleValue(list(parts.values()), cls=value.cls, exact=value.exact)
    if isinstance(value, ListValue):
        return ListValue(list(parts.values()), kind=value.kind, stage=value.stage)
    if isinstance(value, DictValue):
        return DictValue({name: parts[name] for name in value.items}, None, value.stage)
    if isinstance(value, Instance):
        return replace(value, fields={**value.fields, **{str(name): part for name, part in parts.items()}})
    return value


def leaves_in(value: Value, is_leaf: IsLeaf | None = None) -> list[Value] | None:
    """The leaves of a tree; None if its structure is unknown."""
    found: list[Value] = []
    try:
        _collect(value, is_leaf, found, [MOST_NODES])
    except UnclearTreeError:
        return None
    return found


def _collect(value: Value, is_leaf: IsLeaf | None, found: list[Value], left: list[int]) -> None:
    left[0] -= 1
    if left[0] < 0:
        raise UnclearTreeError
    parts = None if is_leaf is not None and _decided(is_leaf(value)) else children(value)
    if parts is None:
        found.append(value)
        return
    for part in parts.values():
        _collect(part, is_leaf, found, left)


def _decided(answer: bool | None) -> bool:
    if answer is None:
        raise UnclearTreeError
    return answer


def mapped(
    change: Callable[..., Value], first: Value, others: list[Value], is_leaf: IsLeaf | None = None
) -> Value:
    """Applies `change` to each leaf of `first` and to the leaves of `others` at the same place. Raises
    UnclearTreeError if a structure is unknown."""
    return _mapped(change, first, others, is_leaf, [MOST_NODES])


def _mapped(
    change: Callable[..., Value],
    first: Value,
    others: list[Value],
    is_leaf: IsLeaf | None,
    left: list[int],
) -> Value:
    left[0] -= 1
    if left[0] < 0:
        raise UnclearTreeError
    parts = None if is_leaf is not None and _decided(is_leaf(first)) else children(first)
    if parts is None:
        return change(first, *others)
    beside = [_beside(parts, other) for other in others]
    result = {
        name: _mapped(change, part, [other[name] for other in beside], is_leaf, left)
        for name, part in parts.items()
    }
    return with_children(first, result)


def _beside(parts: dict[object, Value], other: Value) -> dict[object, Value]:
    """The children of another tree at the same places. Those of a tree of unknown structure are unknown."""
    if type(other) is Unknown or (isinstance(other, Array) and other.tree):
        return dict.fromkeys(parts, other)
    found = children(other)
    if found is None or found.keys() != parts.keys():
        raise UnclearTreeError
    return found
