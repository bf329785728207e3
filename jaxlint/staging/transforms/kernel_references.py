"""The shapes of the Refs of a Pallas kernel: those of the blocks, or of the whole arrays."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.staging.values import (
    UNKNOWN,
    ExternalObject,
    ListValue,
    Static,
    Transformed,
    TupleValue,
    Value,
)
from jaxlint.staging.values.arrays import Array, Form
from jaxlint.staging.values.forms import form_of_shape, form_of_struct
from jaxlint.staging.values.parts import constant
from jaxlint.staging.values.plain import is_none, kind_of_static

_SPEC = "jax.experimental.pallas.BlockSpec"


def forms_of_references(t: Transformed, count: int, given: Sequence[Value] | None) -> list[Form | None]:
    """The known facts about the shapes of `count` Refs: one for each input, output and scratch buffer.
    `given`: the inputs of a call.
    """
    options = t.options
    unknown: list[Form | None] = [None] * count
    if options.keys() & {"grid_spec", "**"}:
        return unknown
    outputs = _list_of(options.get("out_shape"))
    scratch = _list_of(options["scratch_shapes"]) if "scratch_shapes" in options else []
    if outputs is None or scratch is None:
        return unknown
    inputs = count - len(outputs) - len(scratch)
    if inputs < 0 or (given is not None and len(given) != inputs):
        return unknown
    ins, outs = (_list_of(options[key]) if key in options else None for key in ("in_specs", "out_specs"))
    forms = _blocks(ins, [_whole_input(value) for value in given or [UNKNOWN] * inputs], t, "in_specs")
    forms += _blocks(outs, [form_of_struct(value, t.node) for value in outputs], t, "out_specs")
    return forms + [None] * len(scratch)


def _list_of(value: Value | None) -> list[Value] | None:
    """The parts of an option that is one object or a sequence of them; None if they are unknown."""
    if isinstance(value, (ListValue, TupleValue)):
        return value.items
    return [value] if isinstance(value, ExternalObject) else None


def _blocks(
    specs: list[Value] | None, wholes: list[Form | None], t: Transformed, option: str
) -> list[Form | None]:
    if specs is None or len(specs) != len(wholes):
        return [None] * len(wholes) if option in t.options else wholes
    return [_block(spec, whole, t.node) for spec, whole in zip(specs, wholes, strict=True)]


def _block(spec: Value, whole: Form | None, node: ast.AST) -> Form | None:
    if not isinstance(spec, ExternalObject) or spec.name != _SPEC:
        return None
    shape = spec.args[0] if spec.args else spec.kwargs.get("block_shape")
    if shape is None or is_none(shape):
        return whole
    if not isinstance(shape, TupleValue) or shape.items is None or shape.measured is not None:
        return None
    sizes = [size for size in shape.items if not is_none(size)]  # None: one element, and no axis
    return form_of_shape(TupleValue(sizes), node) if all(map(_is_size, sizes)) else None


def _is_size(value: Value) -> bool:
    return type(constant(value)) is int or (isinstance(value, Static) and kind_of_static(value) == "int")


def _whole_input(value: Value | None) -> Form | None:
    return Form(of=[value]) if isinstance(value, Array) and value.certain and not value.tree else None
