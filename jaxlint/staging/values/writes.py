"""The writes of a call to the objects that it receives: attributes set on `self`, items appended to a list.

A memoised call is not evaluated again. Its writes are repeated on the objects of the new call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from jaxlint.staging.values.objects import DictValue, Instance, ListValue
from jaxlint.staging.values.plain import Value

MAX_OBJECTS = 24
MAX_DEPTH = 3
Path = tuple[str, ...]
State = Any
Writes = list[tuple[Path, State]]


def mutable_parts(bound: dict[str, Value]) -> dict[Path, tuple[Value, State]]:
    """The mutable objects among the arguments and in their attributes, with their present contents."""
    found: dict[Path, tuple[Value, State]] = {}
    for path, value in _walk(bound, (), MAX_DEPTH):
        found[path] = (value, _state(value))
        if len(found) == MAX_OBJECTS:
            break
    return found


def writes_since(before: dict[Path, tuple[Value, State]]) -> Writes:
    """The writes to these objects since `mutable_parts`, the outermost first."""
    found: Writes = []
    given = {id(value) for value, _ in before.values()}
    for path, (value, state) in before.items():
        now = _state(value)
        if isinstance(value, Instance):
            new = {name: part for name, part in now.items() if state.get(name) is not part}
            now = {name: part if id(part) in given else own(part) for name, part in new.items()}
            if now:
                found.append((path, now))
        elif not _same(state, now):
            found.append((path, now))
    return found


def put_back(before: dict[Path, tuple[Value, State]]) -> None:
    """Undoes the writes to these objects since `mutable_parts`."""
    for value, state in before.values():
        if isinstance(value, Instance):
            value.fields.clear()
            value.fields.update(state)
        elif isinstance(value, ListValue):
            value.items, value.element = state
        elif isinstance(value, DictValue):
            items, value.element = state
            value.items.clear()
            value.items.update(items)


def repeat(writes: Writes, bound: dict[str, Value]) -> None:
    """Repeats the writes on the objects of another call."""
    for path, state in writes:
        value: Value | None = bound.get(path[0])
        for name in path[1:]:
            value = value.fields.get(name) if isinstance(value, Instance) else None
        if isinstance(value, Instance) and isinstance(state, dict):
            value.fields.update({name: own(part) for name, part in state.items()})
        elif isinstance(value, ListValue):
            items, value.element = state
            value.items = None if items is None else list(items)
            value.length, value.head = None, ()
        elif isinstance(value, DictValue):
            items, value.element = state
            value.items.update(items)


def own(value: Value) -> Value:
    """A container that the call created: a later write to it does not affect the others."""
    if isinstance(value, ListValue):
        return replace(value, items=None if value.items is None else list(value.items))
    return replace(value, items=dict(value.items)) if isinstance(value, DictValue) else value


def _walk(parts: dict[str, Value], path: Path, depth: int) -> Iterator[tuple[Path, Value]]:
    for name, value in parts.items():
        kind = type(value)
        if kind is Instance or kind is ListValue or kind is DictValue:
            yield (*path, name), value
            if isinstance(value, Instance) and depth > 0 and value.fields:
                yield from _walk(value.fields, (*path, name), depth - 1)


def _state(value: Value) -> State:
    if type(value) is Instance:
        return dict(value.fields)
    if type(value) is ListValue:
        return (None if value.items is None else list(value.items), value.element)
    assert type(value) is DictValue
    return (dict(value.items), value.element)


def _same(left: State, right: State) -> bool:
    if left[1] is not right[1] or type(left[0]) is not type(right[0]):
        return False
    if left[0] is None:
        return True
    old, new = (part.values() if isinstance(part, dict) else part for part in (left[0], right[0]))
    return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
