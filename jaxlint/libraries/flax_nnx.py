"""flax.nnx: modules that are split into graph and state and merged again, variables, summaries."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.jaxapi.dtypes import canonical_dtype
from jaxlint.jaxapi.layer_classes import NNX_DICTS, NNX_LISTS, NNX_METRICS, NNX_NOTES
from jaxlint.libraries._flax import tabulated
from jaxlint.libraries.layers import check_features, convolved, embedded, input_shape, option, with_features
from jaxlint.staging.evaluator.access import Access
from jaxlint.staging.evaluator.external_models import (
    LibraryCall,
    calls,
    calls_of_made,
    first_argument,
    methods,
    nothing,
)
from jaxlint.staging.shapes.applied import Applied, shapes
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Partial,
    StarArgument,
    Static,
    TupleValue,
    Value,
    constant,
    find_array,
)
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.class_models import ClassModel, base, decorator
from jaxlint.staging.values.copies import copied
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.forms import same as same_form
from jaxlint.staging.values.stage import Stage, Why

_MODULE = ClassModel(
    "nnx", pytree=True, module=True, by_reference=True, static_fields=("int", "float", "str", "bool")
)
base("flax.nnx.Module", _MODULE)
base("flax.nnx.Pytree", _MODULE)
decorator("flax.nnx.dataclass", _MODULE)

_GRAPHDEF = "flax.nnx.GraphDef"
_CAPTURE = "flax.nnx.capture"
_VARIABLES = ("Param", "Variable", "BatchStat", "Cache", "Intermediate", "VariableState", "Perturbation")


@calls("flax.nnx.split")
def split(call: LibraryCall) -> Value:
    if (module := call.first()) is None:
        return UNKNOWN
    definition, held = graphdef(call), _arrays(module)
    _ask_filters(call, call.args[1:], held)
    if any(isinstance(arg, StarArgument) for arg in call.args):
        return TupleValue(None, UNKNOWN)
    return TupleValue([definition, *(call.fresh(held) for _ in call.args[1:] or (None,))])


def _ask_filters(call: LibraryCall, filters: list[Value], state: Value) -> None:
    """Calls a filter function with the path and the variable of each leaf."""
    for chosen in filters:
        if isinstance(chosen, (Function, Partial)):
            leaf = replace(state, tree=True, role="ref") if isinstance(state, Array) else UNKNOWN
            call.run(chosen, TupleValue(None, Static(kind="key")), leaf)


@calls("flax.nnx.graphdef")
def graphdef(call: LibraryCall) -> Value:
    return ExternalObject(_GRAPHDEF, call.args[:1], node=call.node)


@calls("flax.nnx.state")
def state(call: LibraryCall) -> Value:
    if not call.args or any(isinstance(arg, StarArgument) for arg in call.args):
        return UNKNOWN
    found = _arrays(call.args[0])
    _ask_filters(call, call.args[1:], found)
    return found if len(call.args) < 3 else TupleValue([call.fresh(found) for _ in call.args[1:]])


def _arrays(module: Value) -> Value:
    """The state of a module: a tree of arrays, which are tracers if the module was created or passed inside a trace."""
    found = find_array(module, True) or (module.staged if isinstance(module, Instance) else None)
    if found is not None:
        return Array(True, found.why, tree=True, certain=False)
    if isinstance(module, (Instance, ExternalObject)):
        return Array(False, tree=True, certain=False)
    return module if isinstance(module, Array) else UNKNOWN


@calls("flax.nnx.merge")
def merge(call: LibraryCall) -> Value:
    definition = call.args[0] if call.args else UNKNOWN
    if isinstance(definition, ExternalObject) and definition.name == _GRAPHDEF and definition.args:
        module = definition.args[0]
        staged = next((a for a in (find_array(part, True) for part in call.args[1:]) if a is not None), None)
        if staged is None:
            return call.replaced(module, {}) if isinstance(module, Instance) else module
        why = staged.why or Why("what `nnx.merge` returns", call.frame.module, call.node)
        return call.staged(module, why, False)
    return UNKNOWN  # an unknown module


@calls("flax.nnx.clone")
def clone(call: LibraryCall) -> Value:
    """Another module: what is stored into it does not appear in the first."""
    return copied(call.first() or UNKNOWN)


@calls("flax.nnx.view", "flax.nnx.as_pure", "flax.nnx.pure")
def same(call: LibraryCall) -> Value:
    return call.first() or UNKNOWN


@calls("flax.nnx.cached_partial")
def cached_partial(call: LibraryCall) -> Value:
    """A compiled function with its first arguments, whose graphs are split once."""
    return Partial(call.args[0], call.args[1:], {}) if call.args else UNKNOWN


calls("flax.nnx.update")(nothing)
calls(*NNX_NOTES)(first_argument)


@calls(*NNX_LISTS)
def list_(call: LibraryCall) -> Value:
    return call.args[0] if call.args else ListValue([], stage=call.frame.stage)


@calls(*NNX_DICTS)
def dict_(call: LibraryCall) -> Value:
    return call.args[0] if call.args else DictValue(dict(call.kwargs), None, call.frame.stage)


@calls(*(f"flax.nnx.{kind}" for kind in _VARIABLES))
def variable(call: LibraryCall) -> Value:
    """A mutable reference to an array. Inside a module it enters a jit like an array."""
    result = call.array(call.args)
    result.role = "ref"
    held = call.first()
    if call.machine.exact and isinstance(held, (Array, NumpyArray, Static)):
        result.dtype, result.form = canonical_dtype(dtype_of(held)), same_form(held)
    return result


@calls("flax.nnx.tabulate")
def tabulate(call: LibraryCall) -> Value:
    """`nnx.tabulate(module, *args)` calls the module, and so its submodules, on tracers."""
    if not call.args or not isinstance(call.args[0], (Instance, ExternalObject)):
        return Static(kind="str")
    why = call.reason("nnx.tabulate", call.args[0])
    part = Why("an argument of", cause=why)
    method = constant(call.kwargs.get("method"))
    (module, *staged), options = tabulated(call, part)
    called = (
        call.machine.part(Access).attribute(module, method, call.node, call.frame, True)
        if isinstance(method, str)
        else module
    )
    call.run_in(Stage("eval_shape", True, True, why, call.frame.stage), called, staged, options)
    return Static(kind="str")


calls(*NNX_METRICS)(LibraryCall.made_object)


@methods(*(f"{name}.update" for name in NNX_METRICS))
def update_metric(call: LibraryCall) -> Value:
    """Outside jit it adds what a compiled function gave."""
    given = (value for value in call.kwargs.values() if isinstance(value, Array) and not value.staged)
    call.made.changed_by = next((value.jitted for value in given if value.jitted), call.made.changed_by)
    return nothing(call)


methods(*(f"{name}.reset" for name in NNX_METRICS))(nothing)


@methods(*(f"{name}.compute" for name in NNX_METRICS))
def computed_metric(call: LibraryCall) -> Value:
    """A number of a mean, a dict of the results of several metrics."""
    return _computed(call, call.made)


def _computed(call: LibraryCall, metric: Value) -> Value:
    if not isinstance(metric, ExternalObject) or metric.name not in NNX_METRICS or "**" in metric.kwargs:
        return UNKNOWN
    if metric.name.endswith("MultiMetric"):
        parts = {name: _computed(call, part) for name, part in metric.kwargs.items()}
        return DictValue(parts, None, call.frame.stage)
    if metric.name.endswith("Welford"):
        return UNKNOWN  # an object with the mean and the deviation
    result = call.array([call.made], name=call.name)
    if not result.staged:
        result.jitted, result.dtype = call.made.changed_by, "float32"
    return result


@calls(_CAPTURE)
def capture(call: LibraryCall) -> Value:
    """`nnx.capture(module, nnx.Intermediate)` is called like the module, and also returns the captured values."""
    return ExternalObject(_CAPTURE, call.args[:1], node=call.node)


@calls_of_made(_CAPTURE)
def call_captured(call: LibraryCall) -> Value:
    result = call.run_all(call.made.args[0], call.args, call.kwargs) if call.made.args else UNKNOWN
    return TupleValue([result, call.opaque([result])])


# -- the result shapes of layers

_KEEPING = "BatchNorm LayerNorm RMSNorm GroupNorm InstanceNorm Dropout PReLU"
shapes(" ".join(f"flax.nnx.{name}" for name in _KEEPING.split()))(input_shape)


@shapes("flax.nnx.Linear")
def linear(applied: Applied) -> Shape:
    return with_features(applied, 1, "out_features", taken="in_features")


@shapes("flax.nnx.Embed")
def embed(applied: Applied) -> Shape:
    return embedded(applied, 1, "features")


@shapes("flax.nnx.Conv")
def conv(applied: Applied) -> Shape:
    check_features(applied, input_shape(applied), -1, option(applied, 0, "in_features"))
    return convolved(applied, 1, "out_features", kernel=(2, "kernel_size"), strides=(3, "strides"))
