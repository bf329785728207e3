"""Libraries whose objects compute arrays when called: layers, modules, distributions, graphs."""

from __future__ import annotations

from jaxlint.jaxapi.dtypes import canonical_dtype, inexact, promote, strong
from jaxlint.jaxapi.layer_classes import LAYER_LIBRARIES, LAYERS_IN_DTYPE, UNASKED_DTYPES, WEIGHTS_OPTIONS
from jaxlint.staging.evaluator.external_models import LibraryCall, calls_of_made, methods
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.applied import RULES, Applied, MisfitError, shape_text
from jaxlint.staging.shapes.convolutions import spatial
from jaxlint.staging.shapes.measures import size_of
from jaxlint.staging.values import (
    UNKNOWN,
    ExternalObject,
    Operation,
    StarArgument,
    Static,
    Value,
    constant,
    find_array,
    is_none,
)
from jaxlint.staging.values.arrays import Form, Shape
from jaxlint.staging.values.dtypes import dtype_named, dtype_of
from jaxlint.staging.values.sizes import Size

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
        if call.machine.exact and symbolic_shape(result) is not None:
            result.tree = False
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


def with_features(applied: Applied, position: int, *names: str, taken: str = "") -> Shape:
    """The last axis of the input gets the layer's size. `taken`: the option that says how large it has to be."""
    shape = input_shape(applied)
    if not shape:
        applied.unclear()
    if taken:
        check_features(applied, shape, -1, option(applied, 0, taken))
    return (*shape[:-1], given_to_maker(applied, position, *names))


def check_features(applied: Applied, shape: Shape, axis: int, wanted: Value | None) -> None:
    """Raises MisfitError if a layer was certainly made for another number of features."""
    expected = size_of(wanted, applied.of) if wanted is not None else None
    if isinstance(expected, int) and isinstance(shape[axis], int) and shape[axis] != expected:
        layer = applied.name.rpartition(".")[2]
        raise MisfitError(
            f"`{layer}` takes {expected} features, but its input {shape_text(shape)} has {shape[axis]}",
            (applied.args[1], shape),
            error="TypeError or ValueError",
        )


def option(applied: Applied, position: int, *names: str) -> Value | None:
    """What the layer was created with, by position or by one of the names."""
    layer = applied.args[0]
    if not isinstance(layer, ExternalObject) or "**" in layer.kwargs:
        applied.unclear()
    if any(isinstance(value, StarArgument) for value in layer.args):
        applied.unclear()
    value = layer.args[position] if 0 <= position < len(layer.args) else None
    for name in names:
        value = layer.kwargs.get(name) if value is None else value
    return value


def embedded(applied: Applied, position: int, *names: str) -> Shape:
    """Each index becomes a row."""
    return (*input_shape(applied), given_to_maker(applied, position, *names))


def convolved(
    applied: Applied, position: int, *names: str, kernel: tuple[int, str], strides: tuple[int, str]
) -> Shape:
    """Channels last. `kernel`, `strides`: the position and the name of these options."""
    shape = input_shape(applied)
    if len(shape) < 3:
        applied.unclear()
    around = after_window(applied, shape[1:-1], kernel, strides, "SAME")
    return (shape[0], *around, given_to_maker(applied, position, *names))


def after_window(
    applied: Applied, sizes: Shape, kernel: tuple[int, str], strides: tuple[int, str], padding: object
) -> list[Size]:
    """The spatial axes of a layer's result. `padding`: what the library takes if nothing is said."""
    wide = size_or_sizes(applied, option(applied, *kernel), len(sizes))
    widened = constant_of(option(applied, -1, "input_dilation"), None)
    dilation = next(
        (found for name in ("kernel_dilation", "dilation", "rate") if (found := option(applied, -1, name))),
        None,
    )
    return spatial(
        sizes,
        wide,
        constant_of(option(applied, *strides), 1),
        constant_of(option(applied, -1, "padding"), padding),
        widened,
        constant_of(dilation, 1),
    )


def size_or_sizes(applied: Applied, value: Value | None, count: int) -> list[Size]:
    """One size for each axis; empty if they are unknown."""
    found = constant(value) if value is not None else None
    if isinstance(found, tuple):
        return [one for one in found if type(one) is int]
    return [found] * count if type(found) is int else []


def constant_of(value: Value | None, otherwise: object) -> object:
    """An option as a constant, `otherwise` if it is not given; None counts as not given."""
    found = None if value is None else constant(value)
    return otherwise if found is None else found


@methods(*(f"{library}*.*" for library in LAYER_LIBRARIES))
def method_of_layer(call: LibraryCall) -> Value:
    name = call.name.rpartition(".")[2]
    if name in _COMPUTING:
        result = call.array(call.inputs)
        result.tree = True
        return result
    return Static(None) if name in _SETTING else call.opaque()
