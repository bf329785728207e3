"""Recurrent cells of flax, haiku and equinox, in an exact analysis: a step returns a state like the one that it gets."""

from __future__ import annotations

from jaxlint.libraries import layers
from jaxlint.staging.evaluator.external_models import LibraryCall, calls_of_made, methods
from jaxlint.staging.shapes.agreement import is_open, like_start
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import form_of
from jaxlint.staging.shapes.measures import size_of, sizes_in
from jaxlint.staging.values import Array, Origin, TupleValue, Value
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.sizes import symbol

_CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell", "MGUCell")
_FLAX = tuple(f"flax.{api}.{cell}" for api in ("linen", "nnx") for cell in _CELLS)
_HAIKU = tuple(f"haiku.{cell}" for cell in ("LSTM", "GRU", "VanillaRNN"))
_EQUINOX = ("equinox.nn.GRUCell", "equinox.nn.LSTMCell")
_FEATURES = {"flax.linen": (0, "features"), "flax.nnx": (1, "hidden_features"), "haiku": (0, "hidden_size")}


@calls_of_made(*_FLAX)
def step_of_flax(call: LibraryCall) -> Value:
    """`carry, y = cell(carry, x)`: `y` is the last array of the carry."""
    result = layers.call_layer(call)
    if not call.machine.exact or len(call.args) != 2 or not isinstance(result, Array):
        return result
    carry = like_start(call.args[0], result)
    return result if is_open(carry) else TupleValue([carry, _output(carry, 1)])


@calls_of_made(*_HAIKU)
def step_of_haiku(call: LibraryCall) -> Value:
    """`y, state = cell(x, state)`: `y` is the first array of the state."""
    result = layers.call_layer(call)
    if not call.machine.exact or len(call.args) != 2 or not isinstance(result, Array):
        return result
    state = like_start(call.args[1], result)
    return result if is_open(state) else TupleValue([_output(state, 0), state])


@calls_of_made(*_EQUINOX)
def step_of_equinox(call: LibraryCall) -> Value:
    """`state = cell(x, state)`."""
    result = layers.call_layer(call)
    if not call.machine.exact or len(call.args) != 2 or not isinstance(result, Array):
        return result
    return like_start(call.args[1], result)


def _output(state: Value, place: int) -> Value:
    """One array of a state of two, or the only array."""
    return state.items[place] if isinstance(state, TupleValue) and state.items else state


@methods(*(f"{cell}.initialize_carry" for cell in _FLAX), *(f"{cell}.initial_state" for cell in _HAIKU))
def first_state(call: LibraryCall) -> Value:
    """The state before the first step: zeros of float32."""
    result = layers.method_of_layer(call)
    library, _, cell = call.name.rpartition(".")[0].rpartition(".")
    shape = _of_state(call, library)
    if not call.machine.exact or shape is None:
        return result
    made = call.array(call.inputs)
    made.dtype, made.form, made.tree = "float32", form_of(shape), False
    return TupleValue([made, made.known_as(Origin("carry"))]) if "LSTM" in cell else made


def _of_state(call: LibraryCall, library: str) -> Shape | None:
    position, name = _FEATURES[library]
    given = call.made_with(position, name)
    features = size_of(given, symbolic_shape) if given is not None else None
    batch: Shape | None
    if library == "haiku":
        count = call.argument(0, "batch_size")
        size = size_of(count, symbolic_shape) if count is not None else None
        batch = () if count is None else (symbol("?") if size is None else size,)
    else:
        shape = call.argument(1 if library == "flax.linen" else 0, "input_shape")
        sizes = sizes_in(shape, symbolic_shape) if shape is not None else None
        batch = None if not sizes else sizes[:-1]
    return None if features is None or batch is None else (*batch, features)
