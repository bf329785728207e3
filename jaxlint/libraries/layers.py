"""Libraries whose objects compute arrays when called: layers, modules, distributions, graphs."""

from __future__ import annotations

from jaxlint.jaxapi.dtypes import canonical_dtype, inexact, promote, strong
from jaxlint.jaxapi.layer_classes import LAYER_LIBRARIES, LAYERS_IN_DTYPE, UNASKED_DTYPES, WEIGHTS_OPTIONS
from jaxlint.staging.evaluator.external_models import LibraryCall, calls_of_made, methods
from jaxlint.staging.shapes.applied import RULES, Applied
from jaxlint.staging.shapes.measures import size_of
from jaxlint.staging.values import UNKNOWN, ExternalObject, Operation, Static, Value, find_array, is_none
from jaxlint.staging.values.arrays import Form, Shape
from jaxlint.staging.values.dtypes import dtype_named, dtype_of
from jaxlint.staging.values.sizes import Size, symbol

_COMPUTING = frozenset({"__call__", "apply", "init", "encode", "decode", "attend"})
_SETTING = frozenset({"train", "eval", "set_attributes"})


@calls_of_made(*(f"{library}*" for library in LAYER_LIBRARIES))
def call_layer(call: LibraryCall) -> Value:
    array = next((a for a in map(find_array, call.inputs) if a is not None), None)
    if array is None and not call.frame.stage.abstract:
        return UNKNOWN
    made = call.made
    result = call.array(call.inputs, name=call.name)
    result.tree = True
    result.flow = result.flow or made.flow or call.machine.parameter_flow
    result.certain = result.certain and not call.name.startswith("distrax.")
    if call.name in LAYERS_IN_DTYPE:
        result.tree = False  # each of these returns one array
        if "dtype" in made.kwargs:
            result.dtype = canonical_dtype(dtype_named(made.kwargs["dtype"]))
    if not result.dtype and call.machine.exact:
        result.dtype = _unasked_dtype(call)
    if call.name in RULES:
        operation = Operation(call.name, (made, *call.args), call.kwargs, call.node, 0, call.name)
        result.form = Form("layer", made=operation)
    return result


def _unasked_dtype(call: LibraryCall) -> str:
    """The dtype of a layer's result that follows from its input and its weights; "" if unknown."""
    how, options = UNASKED_DTYPES.get(call.name), call.made.kwargs
    asked = options.get("dtype")
    if how is None or (asked is not None and not is_none(asked) and not call.name.startswith("equinox.")):
        return ""
    taken = strong(dtype_of(call.args[0])) if call.args else ""
    if how in ("input", "inexact"):
        return inexact(taken) if how == "inexact" else taken
    given = next(
        (options.get(name) for library, name in WEIGHTS_OPTIONS.items() if call.name.startswith(library)),
        None,
    )
    weights = "float32" if given is None or is_none(given) else canonical_dtype(dtype_named(given))
    return weights if how == "weights" or not weights else promote(taken, weights)


def given_to_maker(applied: Applied, position: int, *names: str) -> Size:
    """A size that the layer was created with."""
    layer = applied.args[0]
    assert isinstance(layer, ExternalObject)
    value = layer.args[position] if position < len(layer.args) else None
    for name in names:
        value = layer.kwargs.get(name) if value is None else value
    found = size_of(value, applied.of) if value is not None else None
    return applied.unclear() if found is None else found


def input_shape(applied: Applied) -> Shape:
    """The shape of a layer's input."""
    if len(applied.args) < 2:
        applied.unclear()
    return applied.shape_of(applied.args[1])


def with_features(applied: Applied, position: int, *names: str) -> Shape:
    """The last axis of the input gets the layer's size."""
    shape = input_shape(applied)
    return (*shape[:-1], given_to_maker(applied, position, *names)) if shape else applied.unclear()


def embedded(applied: Applied, position: int, *names: str) -> Shape:
    """Each index becomes a row."""
    return (*input_shape(applied), given_to_maker(applied, position, *names))


def convolved(applied: Applied, position: int, *names: str) -> Shape:
    """Channels last; the sizes of the other axes depend on strides and padding."""
    shape = input_shape(applied)
    if len(shape) < 3:
        applied.unclear()
    around = [symbol("?") for _ in shape[1:-1]]
    return (shape[0], *around, given_to_maker(applied, position, *names))


@methods(*(f"{library}*.*" for library in LAYER_LIBRARIES))
def method_of_layer(call: LibraryCall) -> Value:
    name = call.name.rpartition(".")[2]
    if name in _COMPUTING:
        result = call.array(call.inputs)
        result.tree = True
        return result
    return Static(None) if name in _SETTING else call.opaque()
