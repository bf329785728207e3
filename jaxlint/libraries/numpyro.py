"""NumPyro: models whose densities a kernel or a guide compiles, and the values that they sample."""

from __future__ import annotations

from jaxlint.staging.evaluator.external_models import LibraryCall, calls, methods
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    ExternalObject,
    Function,
    Origin,
    Partial,
    Static,
    Value,
    is_none,
)
from jaxlint.staging.values.stage import Stage, Why

# Kernels that differentiate a model, functions that run them, and functions that fit a guide to a model.
_KERNELS = frozenset(f"numpyro.infer.{name}" for name in ("NUTS", "HMC", "BarkerMH", "SA", "HMCECS"))
_RUN_OPTIONS = frozenset(
    ["extra_fields", "init_params", "progress_bar", "stable_update", "forward_mode_differentiation"]
)


@methods("numpyro.infer.MCMC.run")
def run_kernel(call: LibraryCall) -> Value:
    """`MCMC(NUTS(model)).run(key, *args)` compiles the density of the model, whose arguments are not traced."""
    kernel = call.made.args[0] if call.made.args else call.made.kwargs.get("sampler")
    if isinstance(kernel, ExternalObject) and kernel.name in _KERNELS:
        model = kernel.args[0] if kernel.args else kernel.kwargs.get("model")
        _compile(call, kernel.name.rpartition(".")[2], [model], call.args[1:])
    return Static(None)


@methods("numpyro.infer.SVI.run")
def fit_guide(call: LibraryCall) -> Value:
    """`SVI(model, guide, ...).run(key, steps, *args)` compiles the densities of both."""
    made = call.made
    models = [*made.args[:2], made.kwargs.get("model"), made.kwargs.get("guide")]
    _compile(call, "SVI", models, call.args[2:])
    return UNKNOWN


def _compile(call: LibraryCall, api: str, models: list[Value | None], args: list[Value]) -> None:
    options = {name: value for name, value in call.kwargs.items() if name not in _RUN_OPTIONS}
    for model in models:
        if isinstance(model, (Function, Partial, BoundMethod)):
            why = call.reason(api, model)
            call.run_in(Stage("numpyro", True, True, why, call.frame.stage), model, args, options)


@calls("numpyro.sample")
def sample(call: LibraryCall) -> Value:
    """`numpyro.sample(name, distribution, obs=None)`: a latent value is a tracer when a kernel runs the model."""
    observed = call.argument(2, "obs")
    if call.frame.stage.within("numpyro") and (observed is None or is_none(observed)):
        why = Why("a sample of", cause=call.frame.stage.why)
        return call.fresh(Array(True, why, origin=Origin("sample")))
    if isinstance(observed, Array):
        return observed
    return call.opaque()
