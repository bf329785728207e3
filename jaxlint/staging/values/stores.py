"""Stores into containers."""

from __future__ import annotations

from typing import Any

from jaxlint.staging.values.joining import join, join_all
from jaxlint.staging.values.objects import CONTAINERS, MAX_WEIGHT, DictValue, Instance, ListValue, weight_of
from jaxlint.staging.values.parts import lies_in
from jaxlint.staging.values.plain import UNKNOWN, Static, Value


def without_cycles(target: Value, value: Value) -> Value:
    """`value` as it may be stored into `target`; unknown if `target` would then contain itself.

    Walks through containers rely on this to finish.
    """
    return UNKNOWN if type(value) in CONTAINERS and lies_in(target, value) else value


def bounded_weight(target: ListValue | DictValue, value: Value) -> Value:
    """`value` as it may be stored into `target`; unknown if `target` would get too heavy."""
    if type(value) in CONTAINERS:
        added = weight_of(value)
        if target.weight + added > MAX_WEIGHT:
            return UNKNOWN
        target.weight += added
    return value


def store_key(target: DictValue, key: Any, value: Value, conditional: bool) -> None:
    """Stores `target[key] = value`. `conditional`: on one of several paths."""
    known = target.items.get(key)
    value = bounded_weight(target, without_cycles(target, value))
    target.items[key] = join(known, value) if known is not None and conditional else value
    if conditional and known is None:
        target.optional = target.optional.union((key,))
    elif not conditional and key in target.optional:
        target.optional = target.optional.difference((key,))


def store_somewhere(target: DictValue, key: Value, value: Value) -> None:
    """Stores `target[key] = value` for an unknown key, or one of a few."""
    names = key.one_of if isinstance(key, Static) else ()
    for name in names:
        store_key(target, name, value, conditional=True)
    if not names:
        overwrite_any(target, value)


def overwrite_any(target: DictValue, value: Value) -> None:
    """Stores `target[key] = value` for an unknown key, which may be one of the known keys."""
    value = without_cycles(target, value)
    target.items.update({key: join(known, value) for key, known in target.items.items()})
    target.element = value if target.element is None else join(target.element, value)


def update_dict(target: DictValue, given: DictValue, conditional: bool) -> None:
    """`target.update(given)`."""
    if given.element is not None:
        overwrite_any(target, given.element)
    for key, value in given.items.items():
        store_key(target, key, value, conditional or key in given.optional)


def publish(instance: Instance) -> None:
    """Records that calls which do not receive the object may change it: the keys of its dicts become unknown, since a
    memoised call does not repeat such a change."""
    instance.published = True
    for part in instance.fields.values():
        opened(part)


def opened(value: Value) -> None:
    if isinstance(value, DictValue) and value.element is None:
        value.element = UNKNOWN


def shortened(target: ListValue) -> None:
    """Records `del target[...]`: any of its items may be gone."""
    if target.items:
        target.element = join_all(target.items)
    target.items = target.length = None
    target.head = ()


def spread(target: ListValue, added: Value) -> None:
    """Records that `added` was stored into `target`, and perhaps into each list that `target` may be."""
    for option in target.either:
        known = option.elements()
        option.element = join(option.element, added) if known else added
        option.items = option.length = None
        option.head = ()
