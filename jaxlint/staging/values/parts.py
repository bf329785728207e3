"""The contents of a value: its parts, its constant, its arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    """The Python object behind `value` if it is fully known (tuples and lists included), otherwise MISSING."""
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


def composed_of(made: ExternalObject) -> Iterator[ExternalObject]:
    """The external objects that an external object is made of, and itself at the end: `chain(clip(1), adam(1e-3))`."""
    for value in [*made.args, *made.kwargs.values()]:
        for part in value.elements() if isinstance(value, (TupleValue, ListValue)) else (value,):
            if isinstance(part, ExternalObject):
                yield from composed_of(part)
    yield made


def is_single(value: Value | None) -> bool:
    """Whether it is certainly one concrete JAX array."""
    return (
        isinstance(value, Array)
        and value.certain
        and not (value.staged or value.tree or value.mixed)
        and value.role not in ("ref", "variables", "declared")
    )


def unknown_of(inputs: Iterable[Value]) -> Unknown:
    """The result of an unknown call with `inputs`; it may wrap the functions among them."""
    options = (option for part in inputs for option in (part.options if isinstance(part, Choice) else [part]))
    functions = tuple(
        part for part in options if isinstance(part, (Function, BoundMethod, Partial, Transformed))
    )
    return Unknown(made_of=functions) if functions else UNKNOWN


def is_answer(value: Value) -> bool:
    """Whether unread code computed it from tracers: perhaps it says that they are tracers, which they are not on the
    host."""
    return isinstance(value, (Unknown, Array, ExternalObject)) and value.answer


def as_answer(value: Value) -> Value:
    """The value that follows from such an answer: `value`, if nothing else is known about it."""
    undecided = type(value) is Unknown or (
        type(value) is Static and value.const is MISSING and value.truth is None
    )
    return ANSWER if undecided else value


def find_array(value: Value, staged: bool | None = None, depth: int = 4) -> Array | None:
    """The first array inside `value`; with `staged`, the first that is (not) a tracer. Certain ones go first."""
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
    """The same container with `change` applied to everything in it, known or unknown."""
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
    """`value` with `change` applied to everything that is not a container, at any depth.

    A container that lies in several places is changed once and shared in the result. Otherwise nested sharing would
    take exponential time.
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


_MANY_INSIDE = MAX_WEIGHT  # nesting depth that is searched


def lies_in(target: Value, value: Value) -> bool:
    """Whether `value` is `target` or contains it at any depth; also true if `value` is too large to search."""
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
    """The contents of a container, known or unknown."""
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
