"""The summary of a call's arguments: calls with the same summary share one context of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jaxlint.staging.values.arrays import Array, NumpyArray
from jaxlint.staging.values.joining import join_all
from jaxlint.staging.values.objects import (
    BoundMethod,
    Choice,
    ClassValue,
    DictValue,
    External,
    ExternalMethod,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    ModuleValue,
    Partial,
    Transformed,
    TupleValue,
)
from jaxlint.staging.values.plain import (
    Document,
    DType,
    Reading,
    Setting,
    Static,
    TreeDef,
    Unknown,
    Value,
    kind_of_static,
)


def summary_key(value: Value, depth: int = 3, coarse: bool = False) -> object:
    """A hashable summary of a value. Calls whose arguments have the same summary count as one context.

    `coarse`: functions compare by their source alone, without captured values; constants compare by type; arrays
    compare without their gradient flow.
    """
    kind = type(value)
    summarise = _SUMMARIES.get(kind)
    if summarise is None:
        summarise = _NESTED_SUMMARIES.get(kind)
        if summarise is None:
            return kind.__name__
        if depth <= 0:
            return (kind.__name__, *functions_in(value))
    return summarise(value, depth, coarse)


def functions_in(value: Value) -> list[int]:
    """The functions and classes in a value, the nearest first. A function that calls its argument behaves differently
    for each of them."""
    found: list[int] = []
    queue = [value]
    for part in queue:  # the queue grows during the loop
        kind = type(part)
        if kind is Function or kind is ClassValue:
            found.append(id(part.node))  # type: ignore[attr-defined]
        elif kind in _HOLDS and len(queue) < _MOST_HELD:
            queue.extend(_HOLDS[kind](part))
    return found


_MOST_HELD = 24  # how many parts of a value are searched
_HOLDS: dict[type, Callable[[Any], Iterable[Value]]] = {
    Instance: lambda value: value.fields.values(),
    Partial: lambda value: (value.function, *value.args),
    BoundMethod: lambda value: (value.function, value.receiver),
    TupleValue: lambda value: value.elements(),
    ListValue: lambda value: value.elements(),
    Choice: lambda value: value.options,
    Transformed: lambda value: (value.target,),
    ExternalObject: lambda value: (
        *value.args,
        *(part.cls for part in value.args if type(part) is Instance),  # the module whose `apply` it is
    ),
}


def _key_of_static(value: Static, depth: int, coarse: bool) -> object:
    const = value.const
    if const is None or isinstance(const, bool) or (not coarse and isinstance(const, (str, int, float))):
        return ("s", type(const).__name__, const)
    return ("s", kind_of_static(value), () if coarse else value.one_of, value.truth)


def _key_of_array(value: Array, depth: int, coarse: bool) -> object:
    kind = (
        "a",
        value.staged,
        value.tree,
        value.certain,
        value.role,
        bool(value.jitted),
        value.dtype,
        value.rowless,
        value.answer,
    )
    return kind if value.flow is None or coarse else (*kind, id(value.flow.node))


def _key_of_unknown(value: Unknown, depth: int, coarse: bool) -> object:
    known = "u!" if value.true else "u?" if value.answer else "u"
    if type(value.origin) is Document:
        known += "d"
    return known if value.flow is None or coarse else (known, id(value.flow.node))


def _key_of_source(value: Function | ClassValue, depth: int, coarse: bool) -> object:
    return ("f", id(value.node), 0 if coarse else value.scope.serial)


def _key_of_transformed(value: Transformed, depth: int, coarse: bool) -> object:
    return ("t", id(value.node), summary_key(value.target, depth - 1, coarse) if depth > 0 else 0)


def _key_of_sequence(value: TupleValue | ListValue, depth: int, coarse: bool) -> object:
    if value.items is not None and len(value.items) <= 12:
        record = id(value.cls.node) if isinstance(value, TupleValue) and value.cls is not None else 0
        return (type(value).__name__, record, *[summary_key(p, depth - 1, coarse) for p in value.items])
    head = value.head if isinstance(value, TupleValue) else ()
    first = [summary_key(part, depth - 1, coarse) for part in head]
    return (type(value).__name__, "*", *first, summary_key(join_all(value.elements()), depth - 1))


def _key_of_dict(value: DictValue, depth: int, coarse: bool) -> object:
    known = tuple((repr(k), summary_key(v, depth - 1, coarse)) for k, v in list(value.items.items())[:16])
    return ("d", known, None if value.element is None else summary_key(value.element, depth - 1, coarse))


def _key_of_instance(value: Instance, depth: int, coarse: bool) -> object:
    if depth <= 1:
        switches = [
            (name, part.const)
            for name, part in value.fields.items()
            if type(part) is Static and isinstance(part.const, bool if coarse else (bool, str))
        ]  # a config of a module decides what the module does
        return ("i", id(value.cls.node), value.staged is not None, *switches, *functions_in(value))
    known = list(value.fields.items())[:16]
    fields = frozenset([(name, summary_key(part, depth - 2, coarse)) for name, part in known])
    return ("i", id(value.cls.node), value.staged is not None, fields)


def _key_of_method(value: BoundMethod, depth: int, coarse: bool) -> object:
    return (
        "b",
        summary_key(value.function, depth - 1, coarse),
        summary_key(value.receiver, depth - 1, coarse),
    )


def _key_of_partial(value: Partial, depth: int, coarse: bool) -> object:
    args = tuple(summary_key(a, depth - 1, coarse) for a in value.args)
    kwargs = tuple((k, summary_key(v, depth - 1, coarse)) for k, v in value.kwargs.items())
    return ("p", summary_key(value.function, depth - 1, coarse), args, kwargs)


def _key_of_choice(value: Choice, depth: int, coarse: bool) -> object:
    options = [summary_key(option, depth - 1, coarse) for option in value.options]
    return ("c", frozenset(options) if coarse else tuple(options))


# Dispatch by type, since this runs for every argument of every call; the second table descends into values.
_SUMMARIES: dict[type, Callable[[Any, int, bool], object]] = {
    Static: _key_of_static,
    DType: _key_of_static,
    Setting: lambda value, depth, coarse: ("env", value.kind, value.default),
    Reading: _key_of_static,
    TreeDef: _key_of_static,
    Array: _key_of_array,
    NumpyArray: lambda value, depth, coarse: ("n", value.rowless),
    Unknown: _key_of_unknown,
    Function: _key_of_source,
    ClassValue: _key_of_source,
    External: lambda value, depth, coarse: ("x", value.name),
    Transformed: _key_of_transformed,
}
_NESTED_SUMMARIES: dict[type, Callable[[Any, int, bool], object]] = {
    TupleValue: _key_of_sequence,
    ListValue: _key_of_sequence,
    DictValue: _key_of_dict,
    Instance: _key_of_instance,
    BoundMethod: _key_of_method,
    Partial: _key_of_partial,
    Choice: _key_of_choice,
    ModuleValue: lambda value, depth, coarse: ("m", id(value.module)),
    ExternalObject: lambda value, depth, coarse: (
        "eo",
        value.name,
        value.staged is not None,
        value.flow is not None,
        bool(value.changed_by),
        *functions_in(value),
    ),
    ExternalMethod: lambda value, depth, coarse: (
        "em",
        value.name,
        summary_key(value.receiver, depth - 1, coarse),
    ),
}
