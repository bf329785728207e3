"""optax: optimisers, which call schedules and line searches, and their states."""

from __future__ import annotations

from jaxlint.jaxapi.optimizers import OPTIMIZERS, OPTIMIZERS_WITH_ARRAYS, keeps_structure
from jaxlint.staging.evaluator.external_models import LibraryCall, calls_of_made, methods
from jaxlint.staging.values import (
    CALLABLE,
    UNKNOWN,
    Array,
    BoundMethod,
    ExternalObject,
    Function,
    Origin,
    Partial,
    Static,
    TupleValue,
    Value,
    composed_of,
    is_none,
)
from jaxlint.staging.values.stage import Stage, Why

_SCHEDULE_NAMES = ("learning_rate", "step_size_fn", "schedule")
_SCHEDULED = OPTIMIZERS | {"optax.scale_by_learning_rate", "optax.scale_by_schedule"}


@methods("optax.*.init", "flax.TrainState.tx*")
def init(call: LibraryCall) -> Value:
    result = call.array(call.inputs)
    result.tree = True
    if call.made.name in OPTIMIZERS_WITH_ARRAYS:
        result.role = "optimizer state"
    return result


@methods("optax.*.update", "flax.TrainState.tx*.update")
def update(call: LibraryCall) -> Value:
    """`optimiser.update(grads, state, params)`: returns the updates and the state, most often with the structure of the inputs."""
    _search_along_line(call)
    if call.frame.stage.abstract:
        parts = list(composed_of(call.made))
        for part in parts:
            _call_schedule(call, part)
        for part in parts:
            _call_update(call, part)
    keeps = keeps_structure(part.name for part in composed_of(call.made))
    updates = call.array(call.inputs, like=call.argument(0) if keeps else None)
    state = call.array(call.inputs, like=call.argument(1))
    updates.tree = state.tree = True
    given = call.argument(0)
    if isinstance(given, Array) and given.role == "grad":
        updates.role = "grad"
    return TupleValue([updates, state])


def _call_update(call: LibraryCall, optimiser: ExternalObject) -> None:
    """Calls the update function of a transformation that is built from project functions."""
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
    why = call.reason(optimiser.name, update)
    params = call.args[2] if len(call.args) > 2 else call.kwargs.get("params", Static(None))
    state = call.staged(
        call.run(init, call.args[0] if is_none(params) else params),
        Why("the optimizer state of", cause=why),
    )
    call.run_in(_inside(call, why), update, [call.args[0], state, params], {})


def _call_schedule(call: LibraryCall, optimiser: ExternalObject) -> None:
    """Calls a transformation's schedule with the count of updates, a tracer in a trace."""
    if optimiser.name not in _SCHEDULED:
        return
    schedule = next(
        (optimiser.kwargs[name] for name in _SCHEDULE_NAMES if name in optimiser.kwargs),
        optimiser.args[0] if optimiser.args else UNKNOWN,
    )
    if isinstance(schedule, (Function, Partial, BoundMethod)):
        why = call.reason(optimiser.name, schedule)
        count = Array(True, Why("the step count of", cause=why), origin=Origin("count"), dtype="int32")
        call.run_in(_inside(call, why), schedule, [call.fresh(count)], {})


def _inside(call: LibraryCall, why: Why) -> Stage:
    """The stage in which the update runs, for the functions that it calls."""
    stage = call.frame.stage
    return Stage(stage.kind, True, stage.certain, why, stage)


@methods("*.update")
def update_of_others(call: LibraryCall) -> Value:
    """Optimisers of other libraries also use line searches."""
    _search_along_line(call)
    return call.otherwise()


def _search_along_line(call: LibraryCall) -> None:
    """`optimiser.update(grads, state, params, value_fn=f)`: a line search calls `f` in a loop."""
    function = call.kwargs.get("value_fn")
    if not isinstance(function, CALLABLE):
        return
    params = (
        call.args[2]
        if len(call.args) > 2
        else call.kwargs.get("params", call.args[0] if call.args else UNKNOWN)
    )
    why = call.reason("update", function)
    part = Why("an argument of", cause=why)
    stage = Stage("while_loop", True, True, why, call.frame.stage)
    call.run_in(stage, function, [call.fresh(call.staged(params, part))], {})


@calls_of_made("optax.inject_hyperparams", "optax.inject_stateful_hyperparams")
def with_hyperparameters(call: LibraryCall) -> Value:
    """Turns an optimiser factory into one whose hyperparameters are part of the state."""
    return ExternalObject("optax.GradientTransformationExtraArgs", call.args, call.kwargs, call.node)


@calls_of_made("optax.*")
def schedule(call: LibraryCall) -> Value:
    return call.array(call.inputs) if call.inputs else call.otherwise()
