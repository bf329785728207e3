"""NumPy: functions that compute on the host, and so need concrete values."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.jaxapi.functions import NUMPY_DISPATCHES, NUMPY_FRESH, NUMPY_METADATA, NUMPY_VIEWS
from jaxlint.staging import events
from jaxlint.staging.arrays.functions import ArrayFunctions
from jaxlint.staging.arrays.questions import answered
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made, methods
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.known import lacks_rows
from jaxlint.staging.shapes.making import draws_several
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.tracking.operations import changed_in_place, numpy_dtype, numpy_kind
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    ExternalObject,
    Fetch,
    ListValue,
    NumpyArray,
    Operation,
    StarArgument,
    Static,
    TupleValue,
    Unknown,
    Value,
    constant,
    find_array,
    is_single,
)
from jaxlint.staging.values.measured import MEASURES, measure

_STATIC = frozenset(
    f"numpy.{name}"
    for name in """issubdtype dtype iterable isscalar promote_types can_cast finfo iinfo vectorize broadcast_shapes errstate ndarray
    generic set_printoptions printoptions seterr ndindex save savez load memmap""".split()  # noqa: SIM905
)
_STATIC_MODULES = ("numpy.testing.", "numpy.dtypes.", "numpy.typing.", "numpy.lib.")
_CHECKS = frozenset(
    f"numpy.testing.assert_{name}"
    for name in ("allclose", "array_equal", "array_almost_equal", "array_less", "array_max_ulp")
)
_WRITERS = frozenset({"numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt"})
_GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState")


def _is_one_array(path: Value | None) -> bool:
    """Whether a file name shows that the file holds one array; an `.npz` holds several by name."""
    name = constant(path) if path is not None else None
    return isinstance(name, str) and name.endswith(".npy")


@calls("numpy.*")
def function(call: LibraryCall) -> Value:
    """Any function without its own model: it creates a NumPy array, from values that it fetches if they are JAX
    arrays."""
    name, inputs = call.name, call.inputs
    array = next((a for a in (find_array(v, depth=2) for v in inputs) if a is not None), None)
    staged = next((a for a in (find_array(v, True, 2) for v in inputs) if a is not None), None)
    if name in ("numpy.finfo", "numpy.iinfo"):
        return answered(name, call.args) or Static()
    if name in NUMPY_METADATA:
        answer = answered(name, call.args) if call.machine.exact else None
        return _metadata(name, call.argument(0, "a")) if answer is None else answer
    if array is not None and not array.staged:
        call.machine.ledger.settle()
    if name.startswith("numpy.random."):
        made = ExternalObject(name, call.args, call.kwargs, call.node)
        return made if name in _GENERATORS else _drawn(call, name)
    differentiated = staged is None and call.machine.differentiating > 0
    if differentiated:
        staged = call.machine.part(Gradients).differentiated(inputs)
    if staged is not None and name in _CHECKS | _WRITERS:
        call.emit("numpy", events.NumpyEvent(call.node, call.frame, staged, name, differentiated))
        return Static(None)
    if name in _WRITERS:
        call.machine.part(Conversions).read_on_host(name, inputs, call.node, call.frame)
        return Static(None)
    if name == "numpy.memmap" or (name == "numpy.load" and _is_one_array(call.argument(0, "file"))):
        return NumpyArray()
    if name in _STATIC or name.startswith(_STATIC_MODULES):
        kept = name in ("numpy.errstate", "numpy.vectorize")
        return ExternalObject(name, call.args, call.kwargs, call.node) if kept else Static()
    if staged is not None:
        return _of_tracer(call, staged, differentiated)
    if array is not None:
        call.emit("convert", events.ConvertEvent(call.node, call.frame, array, name))
    return _made(call, array)


def _metadata(name: str, first: Value | None) -> Value:
    attribute = name.removeprefix("numpy.")
    if attribute in MEASURES and isinstance(first, (Array, NumpyArray)):
        measured = measure(first, attribute)
        return replace(measured, kind="int") if isinstance(measured, Static) else measured
    if name == "numpy.shape":
        return TupleValue(None, Static(kind="int"))
    if name.endswith("_from"):
        return TupleValue(None, NumpyArray())
    return Static(kind="int" if name in ("numpy.ndim", "numpy.size") else "")


def _of_tracer(call: LibraryCall, staged: Array, differentiated: bool) -> Value:
    """Some functions call a method of their first argument; the others need concrete values."""
    first = call.argument(0, "a")
    if call.name in NUMPY_DISPATCHES and isinstance(first, Array):
        result = call.array(call.inputs)
        return call.machine.part(ArrayFunctions).as_returned(
            f"jax.{call.name}", result, call.args, call.kwargs, call.frame
        )
    changed = changed_in_place(call.name, call.args, call.kwargs)
    changes = isinstance(changed, Array) and changed.certain and not (changed.tree or changed.role == "ref")
    call.emit("numpy", events.NumpyEvent(call.node, call.frame, staged, call.name, differentiated, changes))
    return UNKNOWN


def _made(call: LibraryCall, array: Array | None) -> Value:
    name, args = call.name, call.args
    short = name.removeprefix("numpy.")
    dtype = numpy_dtype(name, args, call.kwargs) or numpy_kind(short, args, call.kwargs)
    if any(isinstance(value, Unknown) for value in args[:1]) and name not in NUMPY_FRESH:
        return NumpyArray(dtype=dtype)
    fetch = Fetch(call.node, name, array.jitted) if array is not None and array.certain else None
    shares = name in NUMPY_VIEWS and is_single(args[0] if args else None) and len(call.inputs) == 1
    operation = Operation(short, tuple(args), call.kwargs, call.node, 0, f"jax.{name}")
    rowless = bool(args) and lacks_rows(operation)
    if name == "numpy.meshgrid":  # one array for each argument, whose number a star hides
        given = any(isinstance(value, StarArgument) for value in args)
        return ListValue(None, NumpyArray(True, dtype, made=None if given else operation))
    return NumpyArray(name in NUMPY_FRESH, dtype, fetch, shares, rowless, operation)


@methods("numpy.random.*")
def draw(call: LibraryCall) -> Value:
    return _drawn(call, f"numpy.random.{call.name.rpartition('.')[2]}")


def _drawn(call: LibraryCall, name: str) -> NumpyArray:
    dtype = numpy_kind(name.removeprefix("numpy."), call.args, call.kwargs)
    made = Operation(name, tuple(call.args), call.kwargs, call.node, 0, name)
    drawn = NumpyArray(dtype=dtype, made=made)
    shape = symbolic_shape(drawn)
    several = bool(shape) if shape is not None else draws_several(name, call.args, call.kwargs)
    return replace(drawn, fresh=several)  # without a size NumPy returns a number, which has a hash


@calls_of_made("numpy.vectorize")
def vectorized(call: LibraryCall) -> Value:
    staged = next((a for a in (find_array(v, True, 0) for v in call.inputs) if a is not None), None)
    carrying = call.machine.part(Gradients).differentiated(call.inputs) if staged is None else None
    found = staged or carrying
    if found is not None:
        call.emit("numpy", events.NumpyEvent(call.node, call.frame, found, call.name, carrying is not None))
    return UNKNOWN
