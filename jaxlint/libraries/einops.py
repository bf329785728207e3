"""einops: operations on arrays whose axes are named in a string."""

from __future__ import annotations

from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.values import Array, ListValue, NumpyArray, TupleValue, Value, find_array


@calls("einops.rearrange", "einops.reduce", "einops.repeat")
def rearrange(call: LibraryCall) -> Value:
    """`rearrange(x, "b (h d) -> b h d", h=8)`: an array of the input's kind, JAX or NumPy; for a list, its arrays
    stacked."""
    given = call.argument(0, "tensor")
    if isinstance(given, NumpyArray):
        return NumpyArray(dtype=given.dtype)
    if not isinstance(given, (Array, ListValue, TupleValue)) or find_array(given) is None:
        return call.opaque()
    return _made(call, [given])


def _made(call: LibraryCall, inputs: list[Value]) -> Array:
    result = call.array(inputs, name=call.name)
    call.machine.tracking.made_by(result, call.name, call)
    return result


@calls("einops.einsum")
def einsum(call: LibraryCall) -> Value:
    """`einsum(x, y, "i j, j k -> i k")`: the string comes last."""
    if not any(isinstance(value, Array) for value in call.args):
        return call.opaque()
    return _made(call, call.args)


@calls("einops.pack")
def pack(call: LibraryCall) -> Value:
    """`pack(arrays, "* d")`: one array, and the shapes for `unpack`."""
    given = call.argument(0, "tensors")
    if given is None or find_array(given) is None:
        return call.opaque()
    return TupleValue([call.array([given], name=call.name), ListValue(None, TupleValue(None))])
