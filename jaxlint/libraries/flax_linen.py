"""flax.linen: parameters and variables with their initialisers, streams of random numbers, `apply` and summaries."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.jaxapi.names import APPLY_FN
from jaxlint.libraries._flax import tabulated
from jaxlint.libraries.layers import call_layer, convolved, embedded, input_shape, with_features
from jaxlint.staging.evaluator.external_models import LibraryCall, attributes, calls, calls_of_made
from jaxlint.staging.evaluator.instances import Instances
from jaxlint.staging.evaluator.scopes import Demanding
from jaxlint.staging.events import ModuleRunEvent
from jaxlint.staging.shapes.agreement import like_start
from jaxlint.staging.shapes.applied import Applied, shapes
from jaxlint.staging.tracking.gradients import Gradients
from jaxlint.staging.values import (
    CALLABLE,
    MISSING,
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Operation,
    Origin,
    Partial,
    StarArgument,
    Static,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
)
from jaxlint.staging.values.arrays import Shape
from jaxlint.staging.values.class_models import ClassModel, base
from jaxlint.staging.values.demands import Demand, Demands
from jaxlint.staging.values.dtypes import dtype_named
from jaxlint.staging.values.labels import label_of
from jaxlint.staging.values.stage import Stage, Why

_BOUND = ("apply", "init", "init_with_output", "lazy_init", "tabulate")  # they run the module that owns them
_MODULE = ClassModel(
    "linen",
    fields=True,
    module=True,
    static_fields=True,
    set_up="each use",
    makers=frozenset({"setup", "__post_init__", "__setup__"}),
    members={
        **{
            name: f"flax.linen.Module.{name}"
            for name in ("param", "variable", "make_rng", "sow", "is_initializing", *_BOUND)
        },
        "has_variable": "flax.linen.Module.is_initializing",
    },
    bound_members=frozenset(_BOUND),
)
base("flax.linen.Module", _MODULE)
base("flax.linen.*", _MODULE)

# the operation that returns the collections that a call has changed
CHANGED_STATE = "flax.linen.Module.apply"
_VARIABLE = "flax.linen.Variable"
_APPLY_OPTIONS = ("rngs", "mutable", "method", "capture_intermediates")
_INITIALIZERS = ("flax.linen.initializers.", "jax.nn.initializers.", "flax.nnx.initializers.")


@calls_of_made("flax.linen.Module.param")
def param(call: LibraryCall) -> Value:
    """`self.param(name, init_fn, *shape_args)` runs at trace time and returns an array."""
    began = _call_initialiser(call)
    made = call.array([], name="self.param")
    made.flow = call.machine.parameter_flow
    made.dtype = _parameter_dtype(call.args)
    made.made = Operation("self.param", tuple(call.args), {}, call.node, 0, "flax.linen.Module.param")
    return like_start(began, made) if call.machine.exact and not isinstance(began, Unknown) else made


def _call_initialiser(call: LibraryCall) -> Value:
    """The result of `init_fn` in `self.param(name, init_fn, *args)`: `apply` evaluates its shape, for a traced key."""
    init = call.argument(1, "init_fn")
    if not isinstance(init, CALLABLE):
        return UNKNOWN
    if isinstance(init, (ExternalObject, Choice)) and not call.machine.exact:
        return UNKNOWN
    outer = call.frame.stage.why if call.frame.stage.staged else None
    why = Why(
        f"`{label_of(init)}` initializes a parameter",
        call.frame.module,
        call.node,
        outer,
        function=label_of(init),
        how="it initializes a parameter",
    )
    key = Array(True, Why("the PRNG key of", cause=why), role="key", origin=Origin("key"))
    rest = {name: value for name, value in call.kwargs.items() if name not in ("init_fn", "unbox")}
    # Not certain: `init` calls it without tracing.
    stage = Stage("eval_shape", True, False, why, call.frame.stage)
    used = call.frame.consumed.copied()
    with Demanding(call.frame, Demands(call.frame.path)):  # only `init` computes its result
        began = call.run_in(stage, init, [key, *call.args[2:]], rest)
    call.frame.consumed = used
    return began


def _parameter_dtype(args: list[Value]) -> str:
    """The dtype of `self.param(name, init_fn, shape, dtype)` for an initialiser of flax or JAX; "" if unknown."""
    init = args[1] if len(args) > 1 else None
    if not isinstance(init, (External, ExternalObject)) or not init.name.startswith(_INITIALIZERS):
        return ""
    if isinstance(init, ExternalObject) and (len(init.args) > 1 or "dtype" in init.kwargs):
        return ""
    return dtype_named(args[3]) if len(args) > 3 else "float32" if len(args) == 3 else ""


@calls("flax.linen.partitioning.param_with_axes")
def param_with_axes(call: LibraryCall) -> Value:
    """`self.param` under another name."""
    options = {name: value for name, value in call.kwargs.items() if name not in ("axes", "module")}
    _call_initialiser(replace(call, kwargs=options))
    return call.array([], name="param_with_axes")


@calls_of_made("flax.linen.Module.variable")
def variable(call: LibraryCall) -> Value:
    """`self.variable(collection, name, init_fn, *args)` runs `init_fn` if the variable does not exist yet."""
    kinds = CALLABLE if call.machine.exact else (Function, Partial, BoundMethod)
    if len(call.args) > 2 and isinstance(call.args[2], kinds):
        with Demanding(call.frame, Demands(call.frame.path)):
            began = call.run_all(call.args[2], call.args[3:], call.kwargs)
        return ExternalObject(_VARIABLE, [began] if call.machine.exact else [], node=call.node)
    return ExternalObject(_VARIABLE, node=call.node)


@attributes(f"{_VARIABLE}.value")
def variable_value(call: LibraryCall) -> Value:
    """The value passed to `apply`, or the result of its initialiser: any tree, and a number before it has been
    through a trace."""
    held = call.array([], name="variable.value")
    held.tree, held.certain = True, False
    return like_start(call.made.args[0], held) if call.made.args else held


@calls_of_made("flax.linen.Module.tabulate")
def tabulate(call: LibraryCall) -> Value:
    """`module.tabulate(rngs, *args)` of flax.linen evaluates the shapes of `init`."""
    module = call.made.args[0]
    why = call.reason("tabulate", module)
    part = Why("an argument of", cause=why)
    staged, rest = tabulated(call, part)
    init = ExternalObject("flax.linen.Module.init", [module])
    used = call.frame.consumed.copied()
    call.run_in(Stage("eval_shape", True, True, why, call.frame.stage), init, staged, rest)
    call.frame.consumed = used
    return Static(kind="str")


@calls_of_made(*(f"flax.linen.Module.{how}" for how in ("apply", "init", "init_with_output")))
def apply(call: LibraryCall) -> Value:
    """`module.apply(variables, *args)`, or `init`, of a project module."""
    module, how = call.made.args[0], call.name.rpartition(".")[2]
    assert isinstance(module, Instance)
    machine = call.machine
    inner = {name: value for name, value in call.kwargs.items() if name not in _APPLY_OPTIONS}
    method: Value | None = call.kwargs.get("method")
    if isinstance(method, Static) and isinstance(method.const, str):
        method = module.cls.lookup(method.const)
    if method is None or (isinstance(method, Static) and method.const is None):
        method = machine.part(Instances).module_call_method(module)
    if isinstance(method, BoundMethod):
        method = method.function
    result: Value = UNKNOWN
    if isinstance(method, (Function, Transformed)):
        variables = call.args[0] if call.args and how == "apply" else call.kwargs.get("variables")
        given = [module, *call.args[1:]]
        run = Demands(call.frame.path)
        with Demanding(call.frame, run):
            result = machine.part(Gradients).under_parameters(variables, method, call.passing(given, inner))
        if run.found and how == "apply":
            call.emit(
                "module_run",
                ModuleRunEvent(call.node, call.frame, module, call.kwargs, run.found),
            )
    if how != "apply":
        variables = _variables(call)
        return variables if how == "init" else TupleValue([result, variables])
    return _with_changed(result, call)


@calls_of_made(APPLY_FN)
def apply_of_state(call: LibraryCall) -> Value:
    """`state.apply_fn(variables, *args)`, of an unknown module."""
    mutable = call.kwargs.get("mutable")
    written = isinstance(mutable, ListValue) or (isinstance(mutable, Static) and mutable.const is not MISSING)
    return _with_changed(call.opaque(), call) if written else call.opaque()


def _with_changed(result: Value, call: LibraryCall) -> Value:
    """The result of `apply`, in a pair with the collections that it changes if there are any."""
    mutable = call.kwargs.get("mutable")
    if mutable is None or not _is_set(mutable):
        return result
    changed = _variables(call)
    changed.made = Operation(CHANGED_STATE, (mutable,), {}, call.node, 0, CHANGED_STATE)
    return TupleValue([result, changed])


def _variables(call: LibraryCall) -> Array:
    result = call.array(call.args)
    result.tree, result.role = True, "variables"
    return result


def _is_set(option: Value | None) -> bool:
    """Whether an option is passed and is not False or None; an unknown value counts as passed."""
    if isinstance(option, Static) and option.const is not MISSING:
        return bool(option.const)
    return option is not None


@calls_of_made("flax.linen.Module.is_initializing")
def is_initializing(call: LibraryCall) -> Value:
    return Static(kind="bool")


@calls_of_made("flax.linen.Module.make_rng")
def make_rng(call: LibraryCall) -> Value:
    stream = constant(call.argument(0, "name") or Static("params"))
    if isinstance(stream, str):
        call.frame.demand(Demand("self.make_rng", "rngs", stream, _NO_STREAM))
    return call.key([], "self.make_rng", "make_rng")


@calls_of_made("flax.linen.Module.lazy_init")
def lazy_init(call: LibraryCall) -> Value:
    """Like `init`, for shapes only."""
    init = ExternalObject("flax.linen.Module.init", call.made.args)
    return call.shapes_of(init, call.args, call.kwargs)


# -- what layers demand of `apply`

_NO_STREAM, _NOT_MUTABLE = "InvalidRngError", "ModifyScopeVariableError"
_STATISTICS = "batch_stats"


@calls_of_made("flax.linen.Dropout")
def dropout(call: LibraryCall) -> Value:
    if call.argument(2, "rng") is None:
        stream = constant(call.made_with(3, "rng_collection") or Static("dropout"))
        _demand_stream(call, call.made_with(0, "rate"), call.argument(1, "deterministic"), 2, stream)
    return call_layer(call)


_ATTENTION = ("MultiHeadDotProductAttention", "MultiHeadAttention", "SelfAttention")


@calls_of_made(*(f"flax.linen.{name}" for name in _ATTENTION))
def attention(call: LibraryCall) -> Value:
    rate = call.made_with(-1, "dropout_rate")
    if "dropout_rng" not in call.kwargs and rate is not None:
        _demand_stream(call, rate, call.kwargs.get("deterministic"), -1, "dropout")
    return call_layer(call)


@calls_of_made("flax.linen.BatchNorm")
def batch_norm(call: LibraryCall) -> Value:
    _demand_statistics(call, call.argument(1, "use_running_average"), 0, "use_running_average", False)
    return call_layer(call)


@calls_of_made("flax.linen.SpectralNorm")
def spectral_norm(call: LibraryCall) -> Value:
    _demand_statistics(call, call.kwargs.get("update_stats"), -1, "update_stats", True)
    return call_layer(call)


def _chosen(call: LibraryCall, given: Value | None, position: int, name: str) -> object:
    """A switch of a layer, from its call or else from its constructor; MISSING if unknown."""
    if "**" in call.kwargs or "**" in call.made.kwargs:
        return MISSING
    if any(isinstance(value, StarArgument) for value in (*call.args, *call.made.args)):
        return MISSING
    said = MISSING if given is None else constant(given)
    if given is None or said is None:
        said = constant(call.made_with(position, name))
    return said


def _demand_stream(
    call: LibraryCall, rate: Value | None, given: Value | None, position: int, stream: object
) -> None:
    dropped = constant(rate)
    if _chosen(call, given, position, "deterministic") is not False or not isinstance(stream, str):
        return
    if dropped is MISSING or (isinstance(dropped, (int, float)) and 0 < dropped < 1):
        layer, switch = _layer_name(call), "`deterministic` is False"
        call.frame.demand(Demand(layer, "rngs", stream, _NO_STREAM, switch, dropped is not MISSING))


def _demand_statistics(
    call: LibraryCall, given: Value | None, position: int, name: str, updates: bool
) -> None:
    if _chosen(call, given, position, name) is updates:
        switch = f"`{name}` is {updates}"
        call.frame.demand(Demand(_layer_name(call), "mutable", _STATISTICS, _NOT_MUTABLE, switch))


def _layer_name(call: LibraryCall) -> str:
    return f"nn.{call.name.rpartition('.')[2]}"


# -- the result shapes of layers

_KEEPING = "BatchNorm LayerNorm RMSNorm GroupNorm InstanceNorm Dropout PReLU"
shapes(" ".join(f"flax.linen.{name}" for name in _KEEPING.split()))(input_shape)


@shapes("flax.linen.Module.param")
def shape_of_parameter(applied: Applied) -> Shape:
    """An initialiser of flax or JAX returns the requested shape."""
    init = applied.needed(1)
    if not isinstance(init, (External, ExternalObject)) or not init.name.startswith(_INITIALIZERS):
        applied.unclear()
    return applied.sizes(2)


@shapes("flax.linen.Dense")
def dense(applied: Applied) -> Shape:
    return with_features(applied, 0, "features")


@shapes("flax.linen.Embed")
def embed(applied: Applied) -> Shape:
    return embedded(applied, 1, "features")


@shapes("flax.linen.Conv")
def conv(applied: Applied) -> Shape:
    return convolved(applied, 0, "features", kernel=(1, "kernel_size"), strides=(2, "strides"))
