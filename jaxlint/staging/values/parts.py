"""What lies in a value: its parts, its constant, its arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jaxlint.staging.values.arrays import Array
from jaxlint.staging.values.objects import (
    _WITH_PARTS,
    CONTAINERS,
    MAX_WEIGHT,
    AtIndexer,
    BoundMethod,
    Choice,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Partial,
    Transformed,
    TupleValue,
)
from jaxlint.staging.values.plain import ANSWER, MISSING, UNKNOWN, Static, Unknown, Value


def constant(value: Value | None, depth: int = 8) -> Any:
    """The Python object behind `value` where it is fully known (tuples and lists included), else MISSING."""
    if isinstance(value, Static):
        return value.const
    if isinstance(value, (TupleValue, ListValue)) and value.items is not None and depth > 0:
        parts = [constant(item, depth - 1) for item in value.items]
        return MISSING if any(part is MISSING for part in parts) else tuple(parts)
    return MISSING


def parts_of(value: Value) -> Iterable[Value]:
    """The direct parts of a container-like value."""
    if type(value) is Instance:
        return list(value.fields.values())
    return value.elements() if type(value) in _WITH_PARTS else ()  # type: ignore[attr-defined]


def is_single(value: Value | None) -> bool:
    """Whether it is certainly one array of JAX, and a concrete one."""
    return (
        isinstance(value, Array)
        and value.certain
        and not (value.staged or value.tree or value.mixed)
        and value.role not in ("ref", "variables", "declared")
    )


def unknown_of(inputs: Iterable[Value]) -> Unknown:
    """What something unknown gives that was given `inputs`: it may be made of the functions among them."""
    options = (option for part in inputs for option in (part.options if isinstance(part, Choice) else [part]))
    functions = tuple(
        part for part in options if isinstance(part, (Function, BoundMethod, Partial, Transformed))
    )
    return Unknown(made_of=functions) if functions else UNKNOWN


def is_answer(value: Value) -> bool:
    """Whether something that was not read says it of tracers: perhaps that they are some, as on the host they are not."""
    return isinstance(value, (Unknown, Array, ExternalObject)) and value.answer


def as_answer(value: Value) -> Value:
    """What follows from an answer: `value`, where nothing else is known of it."""
    undecided = type(value) is Unknown or (
        type(value) is Static and value.const is MISSING and value.truth is None
    )
    return ANSWER if undecided else value


def find_array(value: Value, staged: bool | None = None, depth: int = 4) -> Array | None:
    """The first array inside `value`; with `staged`, the first that is (not) staged. Certain ones win."""
    if type(value) is Array:
        return value if staged is None or value.staged == staged else None
    if type(value) not in _WITH_PARTS:
        if type(value) is AtIndexer:
            return find_array(value.array, staged, depth)
        if type(value) is ExternalObject:
            return value.staged if staged is not False else None
        return None
    best: Array | None = None
    if depth > 0:
        for part in parts_of(value):
            found = find_array(part, staged, depth - 1)
            if found is not None:
                if found.certain:
                    return found
                best = best or found
    return best


def map_parts(value: TupleValue | ListValue | DictValue, change: Callable[[Value], Value]) -> Value:
    """The same container with `change` applied to all that it holds, known or not."""
    if isinstance(value, DictValue):
        element = change(value.element) if value.element is not None else None
        known = {key: change(part) for key, part in value.items.items()}
        return DictValue(known, element, optional=value.optional)
    items = [change(part) for part in value.items] if value.items is not None else None
    if isinstance(value, ListValue):
        return ListValue(items, change(value.element), value.kind)
    head = tuple(change(part) for part in value.head)
    tail = change(value.tail) if value.tail is not None else None
    return TupleValue(items, change(value.element), value.cls, value.exact, head, tail)


def map_leaves(value: Value, change: Callable[[Value], Value]) -> Value:
    """`value` with `change` applied to all that is no container, at any depth.

    A container that lies in several places is changed once, and lies in as many in the result: what holds itself twice, that twice,
    and so on, is as large as its depth, and would be walked in exponential time otherwise.
    """
    if type(value) not in CONTAINERS:
        return change(value)
    done: dict[int, Value] = {}

    def changed(part: Value) -> Value:
        if type(part) not in CONTAINERS:
            return change(part)
        known = done.get(id(part))
        if known is None:
            known = done[id(part)] = map_parts(part, changed)  # type: ignore[arg-type]
        return known

    return changed(value)


_MANY_INSIDE = MAX_WEIGHT  # containers in a container that are looked at


def lies_in(target: Value, value: Value) -> bool:
    """Whether `value` is `target` or holds it, at any depth, or is too much to tell."""
    if type(value) not in CONTAINERS:
        return False
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one is target or len(seen) > _MANY_INSIDE:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            waiting += [part for part in _held_by(one) if type(part) in CONTAINERS]
    return False


def _held_by(value: Value) -> list[Value]:
    """What a container holds, known or not."""
    if isinstance(value, DictValue):
        return [*value.items.values(), *([value.element] if value.element is not None else [])]
    if isinstance(value, (ListValue, TupleValue)):
        around = (
            [*value.head, *([value.tail] if value.tail is not None else [])]
            if isinstance(value, TupleValue)
            else []
        )
        return [*(value.items or ()), value.element, *around]
    return []
