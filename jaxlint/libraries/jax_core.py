"""jax and jax.lax: transfers, host syncs, and functions that return an argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from jaxlint.jaxapi.dtypes import INTEGER_ENDS, canonical_dtype, strong
from jaxlint.staging import events
from jaxlint.staging.evaluator.external_models import (
    Entered,
    LibraryCall,
    attributes,
    calls,
    calls_of_made,
    contexts,
    first_argument,
    methods,
    nothing,
)
from jaxlint.staging.evaluator.narrowing import Narrowing
from jaxlint.staging.evaluator.scopes import Staged, Unjitted
from jaxlint.staging.reach.entry_points import PRIMITIVE
from jaxlint.staging.shapes.agreement import tangents_of
from jaxlint.staging.shapes.answers import symbolic_shape
from jaxlint.staging.shapes.exact import declared, form_of
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.tracking.timing import waits_for_function
from jaxlint.staging.transforms.boundary import SHAPED
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    NumpyArray,
    Operation,
    Static,
    TupleValue,
    Value,
    find_array,
    is_none,
    is_single,
)
from jaxlint.staging.values.arrays import NEW_REF, Form
from jaxlint.staging.values.dtypes import dtype_named
from jaxlint.staging.values.gradient_flow import marked
from jaxlint.staging.values.stage import HOST, at_compile_time
from jaxlint.staging.values.truth import truth


@calls("jax.device_get")
def device_get(call: LibraryCall) -> Value:
    _wait("device_get", call)
    given = call.args[0] if call.args else None
    if isinstance(given, Array) and given.staged:
        return given  # it returns a tracer unchanged
    if call.machine.exact and isinstance(given, Array) and is_single(given):
        return NumpyArray(shares=True, dtype=strong(given.dtype), form=form_of(symbolic_shape(given)))
    return NumpyArray(shares=is_single(given)) if isinstance(given, Array) else UNKNOWN


@calls("jax.block_until_ready")
def block_until_ready(call: LibraryCall) -> Value:
    _wait("block_until_ready", call)
    return first_argument(call)


def _wait(how: str, call: LibraryCall) -> None:
    if not waits_for_function(call.args):
        call.machine.ledger.settle()
    found = find_array(call.args[0]) if call.args else None
    if found is not None:
        call.emit("convert", events.ConvertEvent(call.node, call.frame, found, how))


@calls("jax.device_put", "jax.device_put_replicated")
def device_put(call: LibraryCall) -> Value:
    if not call.args:
        return UNKNOWN
    if isinstance(call.args[0], (Array, ListValue, DictValue, TupleValue, Instance)):
        return call.args[0]
    result = call.array(call.args)
    result.tree = not isinstance(call.args[0], NumpyArray)
    return result


@calls("jax.core.concrete_or_error", "jax._src.core.concrete_or_error", "jax.extend.core.concrete_or_error")
def concrete_or_error(call: LibraryCall) -> Value:
    """`concrete_or_error(force, value)` raises on a tracer, so the code after it has numbers."""
    if (
        isinstance(call.node, ast.Call)
        and len(call.node.args) > 1
        and isinstance(call.node.args[1], ast.Name)
    ):
        call.machine.part(Narrowing).rebind(call.node.args[1].id, Static(), call.frame)
    return Static()


@calls("jax.lax.psum")
def psum(call: LibraryCall) -> Value:
    if call.args and isinstance(call.args[0], Static):
        return Static(kind="int")  # `psum(1, axis)` is the old way to get the size of an axis
    result = call.array(call.inputs, name="lax.psum")
    result.made = Operation("psum", tuple(call.args), call.kwargs, call.node, 0, "jax.lax.psum")
    return result


@calls("jax.lax.stop_gradient")
def stop_gradient(call: LibraryCall) -> Value:
    if not call.args:
        return UNKNOWN
    given, held = call.args[0], marked(call.args[0], None)
    if isinstance(given, Array) and isinstance(held, Array) and held is not given and not given.tree:
        made = Operation("stop_gradient", (given,), {}, call.node, 0, call.name)
        return replace(held, made=made, form=None)
    return held


@calls("jax.new_ref", "jax.ref.new_ref", "jax.empty_ref", "jax.ref.empty_ref")
def new_ref(call: LibraryCall) -> Value:
    """A reference to an array that can be written in place."""
    result = call.array(call.args[:1], name=call.name)
    result.role, result.tree = "ref", False
    result.made = Operation(NEW_REF, (), {}, call.node)
    return result


calls(
    "jax.lax.with_sharding_constraint", "jax.lax.optimization_barrier", "jax.ad_checkpoint.checkpoint_name"
)(first_argument)
calls("jax.debug.print", "jax.debug.breakpoint")(nothing)


@methods(f"{PRIMITIVE}.bind", f"{PRIMITIVE}.bind_with_trace")
def bind(call: LibraryCall) -> Value:
    result = call.array(call.inputs)
    result.tree = True  # one array, or a list of them
    return result


@methods("jax.stages.Lowered.compile")
def compile_lowered(call: LibraryCall) -> Value:
    """A compiled program is called like the jitted function."""
    return call.made.args[0]


@attributes(*(f"{owner}.{name}" for owner in SHAPED for name in ("shape", "dtype", "ndim")))
def shape_or_dtype(call: LibraryCall) -> Value:
    return TupleValue(None, Static(kind="int")) if call.name.endswith(".shape") else Static()


@attributes("jax.numpy.finfo.*", "jax.numpy.iinfo.*")
def limit_of_dtype(call: LibraryCall) -> Value:
    """`jnp.finfo(x.dtype).eps` is a scalar of the dtype, `jnp.iinfo(jnp.int32).max` a Python number."""
    (asked,) = call.made.args
    ends = INTEGER_ENDS.get(dtype_named(asked))
    if ends is not None and call.name.endswith((".iinfo.min", ".iinfo.max")):
        return Static(ends[call.name.endswith(".max")])
    if ".iinfo." in call.name or call.name.endswith((".bits", ".nmant", ".nexp")):
        return Static(kind="int")
    return NumpyArray(dtype=dtype_named(asked), form=declared(()))


@attributes("jax.core.ShapedArray.*")
def of_abstract_value(call: LibraryCall) -> Value:
    return UNKNOWN


@calls_of_made("jax.export.export")
def export(call: LibraryCall) -> Value:
    return ExternalObject("jax.export.Exported")


@calls_of_made("jax.vjp.pullback")
def pull_back(call: LibraryCall) -> Value:
    if call.made.args:
        call.machine.part(Gradients).tell_stopped(None, call.made.args[0])
    primals = call.made.kwargs.get("primals")
    if call.machine.exact and primals is not None:
        gradient = call.array(call.inputs, role="grad")
        gradient.tree = True
        return tangents_of(primals, gradient)
    return call.otherwise()


@calls_of_made(*(f"{library}.initializers.*" for library in ("jax.nn", "flax.linen", "flax.nnx")))
def initialise(call: LibraryCall) -> Value:
    call.machine.part(Keys).use_library_key(call.argument(0, "key") or UNKNOWN, call.node, call.frame)
    result = call.array(call.inputs, name=call.name)
    shape = call.argument(1, "shape")
    if call.machine.exact and shape is not None:
        wanted = call.argument(2, "dtype") or call.made.kwargs.get("dtype")
        if wanted is not None and not is_none(wanted):
            result.dtype = canonical_dtype(dtype_named(wanted))
        elif len(call.made.args) < 2:  # the last positional option may be a dtype
            result.dtype = "float32"
        made = Operation("zeros", (shape,), {}, call.node, 0, "jax.numpy.zeros")
        result.form = Form("layer", made=made)
    return result


@contexts("jax.disable_jit")
@contextmanager
def disable_jit(entered: Entered) -> Iterator[None]:
    """`with jax.disable_jit():` disables tracing, `with jax.disable_jit(False):` does not."""
    made = entered.value
    if isinstance(made, ExternalObject) and made.args and truth(made.args[0]) is False:
        yield
        return
    with Staged(entered.frame, HOST), Unjitted(entered.machine, 1):
        yield


@contexts("jax.ensure_compile_time_eval")
@contextmanager
def ensure_compile_time_eval(entered: Entered) -> Iterator[None]:
    """Concrete values are computed at once, at trace time."""
    with Staged(entered.frame, at_compile_time(entered.frame.stage)):
        yield
