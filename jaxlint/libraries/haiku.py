"""Haiku: parameters, state and keys of a transformed function, stacks of layers, summaries."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype
from jaxlint.libraries.layers import constant_of, convolved, embedded, input_shape, option, with_features
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made
from jaxlint.staging.shapes.applied import Applied, shapes
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.transforms.bodies import Bodies
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ExternalObject,
    ListValue,
    Operation,
    Static,
    Transformed,
    TupleValue,
    Value,
)
from jaxlint.staging.values.arrays import Form, Shape
from jaxlint.staging.values.class_models import ClassModel, base
from jaxlint.staging.values.dtypes import dtype_named
from jaxlint.staging.values.forms import same
from jaxlint.staging.values.sizes import product
from jaxlint.staging.values.stage import Stage, Why

_MODULE = ClassModel("haiku", module=True, set_up="once")
base("haiku.Module", _MODULE)
base("haiku.RNNCore", _MODULE)

_LAYER_STACK, _STACKED = "haiku.layer_stack", "haiku.layer_stack.stacked"
_SUMMARIES = ("haiku.experimental.eval_summary", "haiku.experimental.tabulate")


@calls("haiku.next_rng_key")
def next_rng_key(call: LibraryCall) -> Value:
    return call.key([], "hk.next_rng_key", "next_rng_key")


@calls("haiku.get_parameter")
def get_parameter(call: LibraryCall) -> Value:
    held = _held(call, "hk.get_parameter")
    held.flow = call.machine.parameter_flow
    return held


def _held(call: LibraryCall, name: str) -> Array:
    """A parameter or a state with the requested shape and dtype."""
    held = call.array([], name=name)
    held.form = Form(
        "layer", made=Operation(call.name, tuple(call.args), call.kwargs, call.node, 0, call.name)
    )
    asked = call.argument(2, "dtype")
    held.dtype = "float32" if asked is None else canonical_dtype(dtype_named(asked))
    return held


@calls("haiku.get_state")
def get_state(call: LibraryCall) -> Value:
    return _held(call, "hk.get_state")


@calls("haiku.dropout")
def dropout(call: LibraryCall) -> Value:
    if call.args:
        call.machine.part(Keys).use_library_key(call.args[0], call.node, call.frame)
    given = call.argument(2, "x")
    if call.machine.exact and isinstance(given, Array) and not given.tree:
        return replace(call.array(call.inputs, like=given), dtype=given.dtype, form=same(given))
    return call.otherwise()


@calls(_LAYER_STACK, "haiku.experimental.layer_stack")
def layer_stack(call: LibraryCall) -> Value:
    return ExternalObject(_LAYER_STACK, node=call.node)


@calls_of_made(_LAYER_STACK)
def stack(call: LibraryCall) -> Value:
    return ExternalObject(_STACKED, call.args[:1], node=call.node) if call.args else UNKNOWN


@calls_of_made(_STACKED)
def call_stacked(call: LibraryCall) -> Value:
    """`hk.layer_stack(n)(f)(x)`: a scan runs `f`, with separate parameters at each step."""
    body = call.made.args[0] if call.made.args else UNKNOWN
    why = call.reason("hk.layer_stack", body)
    part = Why("an argument of", cause=why)
    staged = [call.fresh(call.staged(value, part)) for value in call.args]
    options = {name: value for name, value in call.kwargs.items() if name != "reverse"}
    stage = Stage("scan", True, True, why, call.frame.stage)
    result = call.run_in(stage, body, staged, options)
    return call.machine.part(Bodies).flow_result(result, call.frame)


@calls(*_SUMMARIES)
def summary(call: LibraryCall) -> Value:
    return ExternalObject(call.name, call.args[:1], node=call.node) if call.args else UNKNOWN


@calls_of_made(*_SUMMARIES)
def call_summary(call: LibraryCall) -> Value:
    """`hk.experimental.tabulate(f)(*args)` evaluates the shapes of `f`, or of the transformed function."""
    function = call.made.args[0] if call.made.args else UNKNOWN
    if isinstance(function, Transformed) and function.kind == "hk.transform":
        function = function.target
    call.shapes_of(function, call.args, call.kwargs)
    return Static(kind="str")


# -- the result shapes of layers

shapes("haiku.LayerNorm haiku.RMSNorm haiku.BatchNorm haiku.GroupNorm")(input_shape)


@shapes("haiku.get_parameter haiku.get_state")
def shape_of_parameter(applied: Applied) -> Shape:
    return applied.sizes(1, "shape")


@shapes("haiku.Linear")
def linear(applied: Applied) -> Shape:
    return with_features(applied, 0, "output_size")


@shapes("haiku.Embed")
def embed(applied: Applied) -> Shape:
    return embedded(applied, 1, "embed_dim")


@shapes("haiku.Conv2D")
def conv(applied: Applied) -> Shape:
    layer = applied.args[0]
    if isinstance(layer, ExternalObject) and "data_format" in layer.kwargs:
        applied.unclear()
    return convolved(applied, 0, "output_channels", kernel=(1, "kernel_shape"), strides=(2, "stride"))


@shapes("haiku.Flatten")
def flatten(applied: Applied) -> Shape:
    shape, kept = input_shape(applied), constant_of(option(applied, 0, "preserve_dims"), 1)
    if type(kept) is not int or not 0 < kept <= len(shape):
        applied.unclear()
    return shape if len(shape) == kept else (*shape[:kept], product(shape[kept:]))


@shapes("haiku.nets.MLP")
def mlp(applied: Applied) -> Shape:
    """The last of the sizes is that of the result."""
    shape, sizes = input_shape(applied), option(applied, 0, "output_sizes")
    if not shape or not isinstance(sizes, (ListValue, TupleValue)) or not sizes.items:
        applied.unclear()
    return (*shape[:-1], *applied.sizes_of(TupleValue(sizes.items[-1:])))
