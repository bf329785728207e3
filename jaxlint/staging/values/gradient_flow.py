"""How values depend on differentiated values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jaxlint.jaxapi.layer_classes import holds_arrays
from jaxlint.staging.values.arrays import Array
from jaxlint.staging.values.objects import (
    AtIndexer,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    TupleValue,
)
from jaxlint.staging.values.parts import map_leaves, parts_of
from jaxlint.staging.values.plain import Flow, StarArgument, Unknown, Value


def flow_in(values: Iterable[Value], depth: int = 3) -> Flow | None:
    """The mark of a result computed from `values`. The mark of a loop goes before that of an argument."""
    found: Flow | None = None
    for value in values:
        flow: Flow | None = None
        if isinstance(value, (Array, Unknown, ExternalObject)):
            flow = value.flow
        elif isinstance(value, AtIndexer):
            flow = value.array.flow
        elif depth > 0 and isinstance(value, (TupleValue, ListValue, DictValue, Instance)):
            flow = flow_in(parts_of(value), depth - 1)
        if flow is not None:
            if flow.node is not None:
                return flow
            found = flow
    return found


def marked(value: Value, flow: Flow | None) -> Value:
    """`value` with this mark on its arrays."""
    if isinstance(value, Array):
        return value if value.flow is flow or value.role == "key" else replace(value, flow=flow)
    if isinstance(value, (TupleValue, ListValue, DictValue)):
        return map_leaves(value, lambda leaf: marked(leaf, flow))
    if type(value) is Unknown and value.flow is not flow:
        return Unknown(value.origin, flow, made_of=value.made_of, answer=value.answer)
    if type(value) is StarArgument:
        return StarArgument(marked(value.element, flow))
    if isinstance(value, ExternalObject) and value.flow is not flow and holds_arrays(value.name):
        return replace(value, flow=flow)
    if isinstance(value, Instance) and value.cls.model.pytree and not value.cls.model.by_reference:
        declared = value.cls.all_fields()
        fields = {
            name: part if name in declared and declared[name].static else marked(part, flow)
            for name, part in value.fields.items()
        }
        return replace(value, fields=fields)
    return value
