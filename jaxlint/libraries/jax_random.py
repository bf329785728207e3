"""jax.random: creating, splitting and folding keys, and samples that consume them."""

from __future__ import annotations

from jaxlint.jaxapi.functions import KEY_MAKERS, STATIC_FUNCTIONS
from jaxlint.staging.arrays.functions import ArrayFunctions
from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import declared, form_of, numbers_of
from jaxlint.staging.shapes.measures import sizes_in
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.operations import Operations
from jaxlint.staging.values import UNKNOWN, Array, Origin, Static, Unknown, Value, constant
from jaxlint.staging.values.arrays import Shape

RAW = "uint32"  # keys in the form of `jax.random.PRNGKey`


@calls(*KEY_MAKERS)
def make_key(call: LibraryCall) -> Value:
    made = call.key(call.args, call.name, "key")
    if call.machine.exact and isinstance(made, Array) and call.name == "jax.random.PRNGKey":
        made.dtype, made.form = RAW, declared((2,))
    elif call.machine.exact and isinstance(made, Array) and call.name == "jax.random.key":
        made.form = declared(())
    return made


@calls("jax.random.fold_in")
def fold_in(call: LibraryCall) -> Value:
    """A separate key for each number; the same number gives the same key."""
    origin, result = _key(call), _computed(call)
    data = constant(call.kwargs.get("data", call.args[1] if len(call.args) > 1 else UNKNOWN))
    result.role = "key"
    if origin is not None:
        call.machine.part(Keys).folded_later(origin, call.node, call.frame)
    known = origin is not None and isinstance(data, (int, str))
    result.origin = origin.child(("fold_in", data)) if known and origin is not None else Origin("fold_in")
    _keep_raw(call, result)
    return result


@calls("jax.random.split")
def split(call: LibraryCall) -> Value:
    origin, result = _key(call), _computed(call)
    if origin is not None:
        call.machine.part(Keys).use_key(origin, call.node, call.frame)
    result.role = "key"
    result.origin = Origin("split", batch=True)
    result.origin.split_of = origin
    _keep_raw(call, result, sizes_in(call.argument(1, "num") or Static(2), symbolic_shape))
    return result


@calls("jax.random.key_data", "jax.random.clone")
def copy_key(call: LibraryCall) -> Value:
    """Models functions that take a key and do not consume it."""
    result = _computed(call)
    _keep_raw(call, result)
    return result


@calls("jax.random.*")
def sample(call: LibraryCall) -> Value:
    if call.name in STATIC_FUNCTIONS:
        return Static()
    origin, result = _key(call), _computed(call)
    if origin is not None:
        call.machine.part(Keys).use_key(origin, call.node, call.frame)
    return result


def _keep_raw(call: LibraryCall, result: Array, counts: Shape | None = ()) -> None:
    """Keys derived from an old-style key, two numbers, are old-style too: `counts` of them, if known. A key of the new
    style has no axis."""
    key = call.kwargs.get("key", call.args[0] if call.args else UNKNOWN)
    numbers = numbers_of(key) if call.machine.exact and isinstance(key, Array) else None
    if numbers is None or not isinstance(key, Array):
        return
    if key.dtype == RAW and numbers:
        result.dtype = RAW
        result.form = form_of(None if counts is None else (*numbers[:-1], *counts, 2))
    elif not key.dtype and key.role == "key":
        data = call.name == "jax.random.key_data"
        result.dtype = RAW if data else ""
        result.form = form_of(None if counts is None else (*numbers, *counts, *((2,) if data else ())))


def _key(call: LibraryCall) -> Origin | None:
    key = call.kwargs.get("key", call.args[0] if call.args else UNKNOWN)
    return key.origin if isinstance(key, (Array, Unknown)) else None


def _computed(call: LibraryCall) -> Array:
    machine = call.machine
    machine.part(ArrayFunctions).check_shapes(call.name, call)
    result = call.array(call.inputs, name=call.name)
    machine.part(Operations).made_by(result, call.name, call)
    return result
