"""Trees that need one structure and certainly have two."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent
from jaxlint.api.tables import keeps_structure
from jaxlint.api.values import (
    Array,
    DictValue,
    ExternalMethod,
    ExternalObject,
    ListValue,
    Origin,
    TupleValue,
    Unknown,
    Value,
    composed_of,
    short_source,
)

# The positions of trees that need one structure. The first tree of `tree.map` may be a prefix of the others.
TREES = {
    "jax.tree.map": (1, None),
    "optax.apply_updates": (0, 2),
    "optax.incremental_update": (0, 2),
}


def trees_apart(event: CallEvent, node: ast.Call) -> tuple[str, str] | None:
    """How two of the trees certainly differ, and how that is known."""
    if event.name in TREES:
        start, stop = TREES[event.name]
        places = list(range(len(event.args)))[start:stop]
    else:
        places = [0, 2] if len(event.args) > 2 and _is_optax(event.callee) else []
    if "is_leaf" in event.kwargs or len(places) < 2 or len(node.args) <= places[-1]:
        return None
    first = places[0]
    for place in places[1:]:
        found = _apart(event.args[first], event.args[place], event.name != "jax.tree.map")
        if found:
            one, two = short_source(node.args[first]), short_source(node.args[place])
            return f"`{one}` and `{two}`", found
    return None


def _is_optax(callee: Value) -> bool:
    if not isinstance(callee, ExternalMethod) or not isinstance(callee.receiver, ExternalObject):
        return False
    made = callee.receiver
    return made.name.startswith("optax.") and keeps_structure(part.name for part in composed_of(made))


def _apart(left: Value, right: Value, equal: bool) -> str:
    """How `right` certainly lacks the structure of `left`; "" if it may have it."""
    if isinstance(left, DictValue) and isinstance(right, DictValue):
        if left.element is None and right.element is None and set(left.items) != set(right.items):
            other = sorted(map(repr, set(left.items) ^ set(right.items)))
            return f"only one of the dicts has the key {other[0]}"
        return ""
    for kind in (ListValue, TupleValue):
        if isinstance(left, kind) and isinstance(right, kind):
            if left.items is not None and right.items is not None and len(left.items) != len(right.items):
                return f"one has {len(left.items)} items, the other {len(right.items)}"
            return ""
    one, two = _structured_as(left), _structured_as(right)
    if _is_part(two, one) or (equal and _is_part(one, two)):
        inner, outer = (two, one) if _is_part(two, one) else (one, two)
        assert inner is not None
        assert outer is not None
        return f"one has the structure of `{inner.name}`, which is a part of `{outer.name}`"
    return ""


def _structured_as(value: Value) -> Origin | None:
    """The value whose structure an array, or a tree of arrays, certainly has."""
    if isinstance(value, Array) and not value.mixed:
        return value.like or value.origin
    return value.origin if isinstance(value, Unknown) else None


def _is_part(inner: Origin | None, outer: Origin | None) -> bool:
    """Whether one is an item of the other, by a name: no tree has the structure of a part of itself."""
    while inner is not None and outer is not None and inner.parent is not None:
        parent = inner.parent
        by_name = any(found is inner and isinstance(part, str) for part, found in parent.children.items())
        if parent is outer:
            return by_name
        inner = parent
    return False
