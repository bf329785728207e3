"""What libraries call of the functions and modules that they are given: initialisers, summaries, line searches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from jaxlint.staging.calls import label_of
from jaxlint.staging.frame import Frame
from jaxlint.staging.operations import dtype_named
from jaxlint.staging.partitions import PARTITIONS, Special
from jaxlint.staging.stage import Stage, Why
from jaxlint.staging.values import (
    CALLABLE,
    UNKNOWN,
    Array,
    BoundMethod,
    Choice,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Origin,
    Partial,
    Static,
    Transformed,
    TupleValue,
    Value,
    constant,
    is_none,
)

CAPTURE = "flax.nnx.capture"
# What `tabulate` keeps to itself, of flax.linen's and of flax.nnx's.
_TABLE_OPTIONS = frozenset(
    [
        "depth",
        "show_repeated",
        "mutable",
        "console_kwargs",
        "table_kwargs",
        "column_kwargs",
        "compute_flops",
        "compute_vjp_flops",
        "row_filter",
        "method",
        "graph",
    ]
)


def call_initialiser(
    machine: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> None:
    """`self.param(name, init_fn, *args)`: `apply` evaluates the shape of what `init_fn` gives, for a traced key."""
    init = args[1] if len(args) > 1 else kwargs.get("init_fn")
    if not isinstance(init, CALLABLE) or isinstance(init, (ExternalObject, Choice)):
        return
    outer = frame.stage.why if frame.stage.staged else None
    why = Why(f"`{label_of(init)}` initialises a parameter", frame.module, node, outer)
    key = Array(True, Why("it is the key of the initialiser", cause=why), role="key", origin=Origin("key"))
    rest = {name: value for name, value in kwargs.items() if name not in ("init_fn", "unbox")}
    # Not certain: `init` calls it as it stands.
    stage = Stage("eval_shape", True, False, why, frame.stage)
    used = dict(frame.used)
    machine.in_stage(init, stage, [key, *args[2:]], rest, node, frame)
    frame.used = used


def linen_variable(
    machine: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`self.variable(collection, name, init_fn, *args)` runs `init_fn` where there is no such variable yet."""
    if len(args) > 2 and isinstance(args[2], (Function, Partial, BoundMethod)):
        machine.call_value(args[2], args[3:], kwargs, node, frame)
    return ExternalObject(LINEN_VARIABLE, node=node)


def value_of_variable(machine: Any, node: ast.AST, frame: Frame) -> Array:
    """`variable.value` of linen: what `apply` was given for it, or what its initialiser made."""
    held: Array = machine.array_result(frame, [], node, name="variable.value")
    held.tree, held.certain = (
        True,
        False,
    )  # it may be any tree, and a number before it has been through a stage
    return held


LINEN_VARIABLE = "flax.linen.Variable"


def parameter_dtype(args: list[Value]) -> str:
    """The dtype of `self.param(name, init_fn, shape, dtype)` for an initialiser of flax or JAX; "" when it is not known."""
    init = args[1] if len(args) > 1 else None
    if not isinstance(init, (External, ExternalObject)) or not init.name.startswith(_INITIALIZERS):
        return ""
    if isinstance(init, ExternalObject) and (len(init.args) > 1 or "dtype" in init.kwargs):
        return ""
    return dtype_named(args[3]) if len(args) > 3 else "float32" if len(args) == 3 else ""


_INITIALIZERS = ("flax.linen.initializers.", "jax.nn.initializers.", "flax.nnx.initializers.")


def call_line_search(
    machine: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> None:
    """`optimiser.update(grads, state, params, value_fn=f)`: a line search calls `f` in a loop."""
    function = kwargs.get("value_fn")
    if not isinstance(function, CALLABLE):
        return
    params = args[2] if len(args) > 2 else kwargs.get("params", args[0] if args else UNKNOWN)
    why = machine.body_why("update", function, node, frame)
    part = Why("it is what the line search looks for", cause=why)
    stage = Stage("while_loop", True, True, why, frame.stage)
    machine.in_stage(function, stage, [machine.fresh(machine.to_staged(params, part))], {}, node, frame)


def _tabulated(
    machine: Any, args: list[Value], kwargs: dict[str, Value], part: Why
) -> tuple[list[Value], dict[str, Value]]:
    """What `tabulate` hands on, traced; settings are closed over, and stay what they are."""
    return [machine.to_staged(value, part, keeps_python=True) for value in args], {
        name: machine.to_staged(value, part, keeps_python=True)
        for name, value in kwargs.items()
        if name not in _TABLE_OPTIONS
    }


def _tabulate(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`nnx.tabulate(module, *args)` calls the module, and by that its parts, on tracers."""
    if not args or not isinstance(args[0], (Instance, ExternalObject)):
        return Static(kind="str")
    why = self.body_why("nnx.tabulate", args[0], node, frame)
    part = Why("it is an argument of `nnx.tabulate`", cause=why)
    method = constant(kwargs.get("method"))
    (module, *staged), options = _tabulated(self, args, kwargs, part)
    called = self.attribute(module, method, node, frame, True) if isinstance(method, str) else module
    self.in_stage(called, Stage("eval_shape", True, True, why, frame.stage), staged, options, node, frame)
    return Static(kind="str")


def tabulate_module(
    machine: Any,
    module: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """`module.tabulate(rngs, *args)` of flax.linen evaluates the shapes of `init`."""
    why = machine.body_why("tabulate", module, node, frame)
    part = Why("it is an argument of `tabulate`", cause=why)
    staged, rest = _tabulated(machine, args, kwargs, part)
    init = ExternalObject("flax.linen.Module.init", [module])
    used = dict(frame.used)
    machine.in_stage(init, Stage("eval_shape", True, True, why, frame.stage), staged, rest, node, frame)
    frame.used = used
    return Static(kind="str")


def _capture(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`nnx.capture(module, nnx.Intermediate)` is called as the module is, and gives what was noted too."""
    return ExternalObject(CAPTURE, args[:1], node=node)


def call_captured(
    machine: Any,
    callee: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    result = machine.call_value(callee.args[0], args, kwargs, node, frame) if callee.args else UNKNOWN
    return TupleValue([result, machine.opaque_call([result], node, frame)])


def _param_with_axes(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`self.param` by another name."""
    call_initialiser(
        self, args, {n: v for n, v in kwargs.items() if n not in ("axes", "module")}, node, frame
    )
    return self.array_result(frame, [], node, name="param_with_axes")


# Of numpyro: the kernels that differentiate a model, and what runs them; what fits a guide to one.
KERNELS = frozenset(f"numpyro.infer.{name}" for name in ("NUTS", "HMC", "BarkerMH", "SA", "HMCECS"))
SAMPLER = "numpyro.infer.MCMC"
FITTER = "numpyro.infer.SVI"
_RUN_OPTIONS = frozenset(
    ["extra_fields", "init_params", "progress_bar", "stable_update", "forward_mode_differentiation"]
)


def run_model(
    machine: Any,
    runner: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """`MCMC(NUTS(model)).run(key, *args)` and `SVI(model, guide, ...).run(key, steps, *args)`.

    They compile the densities of what they are given, whose arguments stay what they are.
    """
    given: list[Value | None]
    if runner.name == FITTER:
        api, args = "SVI", args[1:]
        given = [*runner.args[:2], runner.kwargs.get("model"), runner.kwargs.get("guide")]
    else:
        kernel = runner.args[0] if runner.args else runner.kwargs.get("sampler")
        if not isinstance(kernel, ExternalObject) or kernel.name not in KERNELS:
            return
        api = kernel.name.rpartition(".")[2]
        given = [kernel.args[0] if kernel.args else kernel.kwargs.get("model")]
    rest = {name: value for name, value in kwargs.items() if name not in _RUN_OPTIONS}
    for model in given:
        if isinstance(model, (Function, Partial, BoundMethod)):
            why = machine.body_why(api, model, node, frame)
            stage = Stage("numpyro", True, True, why, frame.stage)
            machine.in_stage(model, stage, args[1:], rest, node, frame)


def updated(
    machine: Any,
    optimiser: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """`optimiser.update(grads, state, params)` of optax, in a trace: what the project has put into it is called."""
    if frame.stage.abstract:
        parts = list(_transformations_in(optimiser))
        for part in parts:
            _call_schedule(machine, part, node, frame)
        for part in parts:
            _call_update(machine, part, args, kwargs, node, frame)


def _transformations_in(optimiser: ExternalObject) -> Iterator[ExternalObject]:
    """The transformations of optax that one is made of, and itself at the end."""
    for value in [*optimiser.args, *optimiser.kwargs.values()]:
        for part in value.elements() if isinstance(value, (TupleValue, ListValue)) else (value,):
            if isinstance(part, ExternalObject) and part.name.startswith("optax."):
                yield from _transformations_in(part)
    yield optimiser


def _call_update(
    machine: Any,
    optimiser: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> None:
    """Calls the update function of a transformation that is made of functions of the project."""
    if optimiser.name not in ("optax.GradientTransformation", "optax.GradientTransformationExtraArgs"):
        return
    init, update = (
        optimiser.args[n] if n < len(optimiser.args) else optimiser.kwargs.get(name)
        for n, name in enumerate(("init", "update"))
    )
    if not isinstance(init, (Function, Partial, BoundMethod)) or not isinstance(
        update, (Function, Partial, BoundMethod)
    ):
        return
    why = machine.body_why(optimiser.name, update, node, frame)
    params = args[2] if len(args) > 2 else kwargs.get("params", Static(None))
    state = machine.to_staged(
        machine.call_value(init, [args[0] if is_none(params) else params], {}, node, frame),
        Why("it is part of the state of the optimiser", cause=why),
    )
    stage = Stage(frame.stage.kind, True, frame.stage.certain, why, frame.stage)
    machine.in_stage(update, stage, [args[0], state, params], {}, node, frame)


def _call_schedule(machine: Any, optimiser: ExternalObject, node: ast.AST, frame: Frame) -> None:
    """Gives the schedule of a transformation its count of updates, an array that is traced in a trace."""
    if optimiser.name not in _SCHEDULED:
        return
    schedule = next(
        (optimiser.kwargs[name] for name in _SCHEDULE_NAMES if name in optimiser.kwargs),
        optimiser.args[0] if optimiser.args else UNKNOWN,
    )
    if isinstance(schedule, (Function, Partial, BoundMethod)):
        why = machine.body_why(optimiser.name, schedule, node, frame)
        count = Array(
            True, Why("it is the count of updates", cause=why), origin=Origin("count"), dtype="int32"
        )
        stage = Stage(frame.stage.kind, True, frame.stage.certain, why, frame.stage)
        machine.in_stage(schedule, stage, [machine.fresh(count)], {}, node, frame)


_SCHEDULE_NAMES = ("learning_rate", "step_size_fn", "schedule")
_SCHEDULED = frozenset(
    f"optax.{name}"
    for name in [
        "adabelief",
        "adadelta",
        "adafactor",
        "adagrad",
        "adam",
        "adamax",
        "adamaxw",
        "adamw",
        "adan",
        "amsgrad",
        "fromage",
        "lamb",
        "lars",
        "lion",
        "nadam",
        "nadamw",
        "noisy_sgd",
        "novograd",
        "radam",
        "rmsprop",
        "rprop",
        "scale_by_learning_rate",
        "scale_by_schedule",
        "sgd",
        "sign_sgd",
        "sm3",
        "yogi",
    ]
)


def _sample(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`numpyro.sample(name, distribution, obs=None)`: what is not observed is traced where a kernel runs the model."""
    observed = args[2] if len(args) > 2 else kwargs.get("obs")
    if frame.stage.within("numpyro") and (observed is None or is_none(observed)):
        why = Why("it is a sample of a model whose density is compiled", cause=frame.stage.why)
        return self.fresh(Array(True, why, origin=Origin("sample")))
    if isinstance(observed, Array):
        return observed
    return self.opaque_call([*args, *kwargs.values()], node, frame)


# Of haiku: functions that give functions.
LAYER_STACK, STACKED = "haiku.layer_stack", "haiku.layer_stack.stacked"
SUMMARIES = frozenset(f"haiku.experimental.{name}" for name in ("eval_summary", "tabulate"))


def _layer_stack(
    self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    return ExternalObject(LAYER_STACK, node=node)


def call_stacked(
    machine: Any,
    callee: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """`hk.layer_stack(n)(f)(x)`: a scan runs `f`, with parameters of its own at each step."""
    if callee.name == LAYER_STACK:
        return ExternalObject(STACKED, args[:1], node=node) if args else UNKNOWN
    body = callee.args[0] if callee.args else UNKNOWN
    why = machine.body_why("hk.layer_stack", body, node, frame)
    part = Why("it is an argument of the stack of layers", cause=why)
    staged = [machine.fresh(machine.to_staged(value, part)) for value in args]
    options = {name: value for name, value in kwargs.items() if name != "reverse"}
    stage = Stage("scan", True, True, why, frame.stage)
    result = machine.in_stage(body, stage, staged, options, node, frame)
    return machine.flow_result(result, frame)


def _summary(name: str) -> Special:
    def call(self: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        return ExternalObject(name, args[:1], node=node) if args else UNKNOWN

    return call


def call_summary(
    machine: Any,
    callee: ExternalObject,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """`hk.experimental.tabulate(f)(*args)` evaluates the shapes of `f`, or of what was transformed."""
    function = callee.args[0] if callee.args else UNKNOWN
    if isinstance(function, Transformed) and function.kind == "hk.transform":
        function = function.target
    machine.control_flow("jax.eval_shape", [function, *args], kwargs, node, frame)
    return Static(kind="str")


CALLBACKS: dict[str, Special] = {
    **PARTITIONS,
    "flax.nnx.tabulate": _tabulate,
    CAPTURE: _capture,
    "flax.linen.partitioning.param_with_axes": _param_with_axes,
    "numpyro.sample": _sample,
    LAYER_STACK: _layer_stack,
    "haiku.experimental.layer_stack": _layer_stack,
    **{name: _summary(name) for name in SUMMARIES},
}
