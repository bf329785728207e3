"""Libraries whose objects compute arrays when they are called: layers, modules, distributions, graphs."""

from __future__ import annotations

from jaxlint.jaxapi.dtypes import canonical_dtype
from jaxlint.jaxapi.modules import LAYER_LIBRARIES, LAYERS_IN_DTYPE
from jaxlint.staging.evaluator.external_models import Call, calls_of_made, methods
from jaxlint.staging.tracking.operations import dtype_named
from jaxlint.staging.values import UNKNOWN, Static, Value, find_array

_COMPUTING = frozenset({"__call__", "apply", "init", "encode", "decode", "attend"})
_SETTING = frozenset({"train", "eval", "set_attributes"})


@calls_of_made(*(f"{library}*" for library in LAYER_LIBRARIES))
def call_layer(call: Call) -> Value:
    array = next((a for a in map(find_array, call.inputs) if a is not None), None)
    if array is None and not call.frame.stage.abstract:
        return UNKNOWN
    made = call.made
    result = call.array(call.inputs, name=call.name)
    result.tree = True
    result.flow = result.flow or made.flow or call.machine.parameter_flow
    result.certain = result.certain and not call.name.startswith("distrax.")
    if "dtype" in made.kwargs and call.name in LAYERS_IN_DTYPE:
        result.dtype = canonical_dtype(dtype_named(made.kwargs["dtype"]))
        result.tree = not result.dtype  # `dtype=None`, or what is not known, says nothing
    return result


@methods(*(f"{library}*.*" for library in LAYER_LIBRARIES))
def method_of_layer(call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    if name in _COMPUTING:
        result = call.array(call.inputs)
        result.tree = True
        return result
    return Static(None) if name in _SETTING else call.opaque()
