"""jax.random: keys that are made, split and folded, and samples that use them up."""

from __future__ import annotations

from jaxlint.jaxapi.functions import KEY_MAKERS, STATIC_FUNCTIONS
from jaxlint.staging.arrays.functions import ArrayFunctions
from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.operations import Operations
from jaxlint.staging.values import UNKNOWN, Array, Origin, Static, Unknown, Value, constant


@calls(*KEY_MAKERS)
def make_key(call: LibraryCall) -> Value:
    return call.key(call.args, call.name, "key")


@calls("jax.random.fold_in")
def fold_in(call: LibraryCall) -> Value:
    """The key of its own for one number; the same number gives the same key."""
    origin, result = _key(call), _computed(call)
    data = constant(call.kwargs.get("data", call.args[1] if len(call.args) > 1 else UNKNOWN))
    result.role = "key"
    if origin is not None:
        call.machine.part(Keys).told_apart(origin, call.node, call.frame)
    known = origin is not None and isinstance(data, (int, str))
    result.origin = origin.child(("fold_in", data)) if known and origin is not None else Origin("fold_in")
    return result


@calls("jax.random.split")
def split(call: LibraryCall) -> Value:
    origin, result = _key(call), _computed(call)
    if origin is not None:
        call.machine.part(Keys).use_key(origin, call.node, call.frame)
    result.role = "key"
    result.origin = Origin("split", batch=True)
    result.origin.split_of = origin
    return result


@calls("jax.random.key_data", "jax.random.clone")
def copy_key(call: LibraryCall) -> Value:
    """What does not use the key up."""
    return _computed(call)


@calls("jax.random.*")
def sample(call: LibraryCall) -> Value:
    if call.name in STATIC_FUNCTIONS:
        return Static()
    origin, result = _key(call), _computed(call)
    if origin is not None:
        call.machine.part(Keys).use_key(origin, call.node, call.frame)
    return result


def _key(call: LibraryCall) -> Origin | None:
    key = call.kwargs.get("key", call.args[0] if call.args else UNKNOWN)
    return key.origin if isinstance(key, (Array, Unknown)) else None


def _computed(call: LibraryCall) -> Array:
    machine = call.machine
    machine.part(ArrayFunctions).check_shapes(call.name, call)
    result = call.array(call.inputs, name=call.name)
    machine.part(Operations).made_by(result, call.name, call)
    return result
