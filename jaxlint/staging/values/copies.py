"""Copies of containers and objects: what is stored into one copy does not appear in another."""

from __future__ import annotations

from jaxlint.staging.values.arrays import Array, Form
from jaxlint.staging.values.objects import Choice, DictValue, Instance, ListValue, TupleValue
from jaxlint.staging.values.plain import Origin, Unknown, Value

MAX_COPIED = 100  # nested containers; deeper ones are shared


def copied(value: Value, since: int = 0) -> Value:
    """Copies `value` and each container and object in it that was created after the serial `since`. References among
    them are kept."""
    return _copied(value, since, {})


def shallow(value: Value) -> Value:
    """`copy.copy(value)`."""
    # (Without `dataclasses.replace`, which takes five times as long.)
    if type(value) is ListValue:
        items = None if value.items is None else list(value.items)
        return ListValue(items, value.element, value.kind, value.depth, value.stage, value.either)
    if type(value) is DictValue:
        return DictValue(dict(value.items), value.element, value.stage, value.optional)
    if type(value) is Instance:
        return Instance(value.cls, dict(value.fields), value.open, value.origin, value.ready, value.staged)
    return value


def fresh(value: Value, depth: int = 6) -> Value:
    """The same value with new key identities, so that each iteration has its own keys."""
    if type(value) is Array:
        return Array(
            value.staged,
            value.why,
            value.tree,
            value.certain,
            Origin("item"),
            None,
            value.role,
            value.jitted,
            value.dtype,
            value.made if value.is_reference else None,
            value.flow,
            form=_same_form(value),
        )
    if depth > 0 and type(value) is TupleValue and value.items is not None:
        return TupleValue([fresh(v, depth - 1) for v in value.items], value.element, value.cls, value.exact)
    if depth > 0 and type(value) is DictValue:
        known = {k: fresh(v, depth - 1) for k, v in value.items.items()}
        return DictValue(known, value.element, optional=value.optional)
    if isinstance(value, Unknown) and type(value) is Unknown:
        return Unknown(Origin("item"), value.flow)
    if type(value) is Choice:
        return Choice(value.options, every=True)
    return value


def _same_form(array: Array) -> Form | None:
    """A form that equals the shape of this array."""
    if array.tree or array.is_reference or (array.form is None and array.made is None):
        return None
    return Form("", (array,))


def holds_made(value: Value, since: int, depth: int = 4) -> bool:
    """Whether `value` holds anything mutable that was created after `since`."""
    if isinstance(value, (ListValue, DictValue, Instance)):
        return value.serial >= since
    if type(value) is TupleValue and value.items is not None and depth > 0:
        return any(holds_made(part, since, depth - 1) for part in value.items)
    return False


def _copied(value: Value, since: int, done: dict[int, Value]) -> Value:
    kind = type(value)
    if kind is not TupleValue and kind is not Instance and kind is not ListValue and kind is not DictValue:
        return value
    known = done.get(id(value))
    if known is not None or len(done) >= MAX_COPIED:
        return known or value
    if isinstance(value, TupleValue):
        if value.items is None:
            return value
        done[id(value)] = value
        items = [_copied(part, since, done) for part in value.items]
        if all(new is old for new, old in zip(items, value.items, strict=True)):
            return value
        copied_tuple = TupleValue(items, value.element, value.cls, value.exact, value.head, value.tail)
        done[id(value)] = copied_tuple
        return copied_tuple
    assert isinstance(value, (Instance, ListValue, DictValue))
    if value.serial < since:
        done[id(value)] = value
        return value
    copy = done[id(value)] = shallow(value)
    if isinstance(copy, ListValue):
        copy.element = _copied(copy.element, since, done)
        if copy.items is not None:
            copy.items = [_copied(part, since, done) for part in copy.items]
    elif isinstance(copy, DictValue):
        copy.items = {key: _copied(part, since, done) for key, part in copy.items.items()}
        copy.element = _copied(copy.element, since, done) if copy.element is not None else None
    elif isinstance(copy, Instance):
        copy.fields = {name: _copied(part, since, done) for name, part in copy.fields.items()}
    return copy
