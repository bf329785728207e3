"""NumPyro: models whose densities a kernel or a guide compiles, and the values that they sample."""

from __future__ import annotations

import ast

from jaxlint.staging.evaluator.external_models import LibraryCall, calls, calls_of_made, methods
from jaxlint.staging.tracking.keys import Keys
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    ExternalObject,
    Function,
    Operation,
    Origin,
    Partial,
    Static,
    TupleValue,
    Value,
    is_none,
)
from jaxlint.staging.values.arrays import Form
from jaxlint.staging.values.stage import Stage, Why

# Kernels that differentiate a model, functions that run them, and functions that fit a guide to a model.
_KERNELS = frozenset(f"numpyro.infer.{name}" for name in ("NUTS", "HMC", "BarkerMH", "SA", "HMCECS"))
_OF_NUMBERS = frozenset(  # distributions of numbers, of which each is drawn with its own parameters
    """Normal HalfNormal LogNormal StudentT Cauchy HalfCauchy Laplace Exponential Gamma InverseGamma Beta Uniform Bernoulli
    BernoulliProbs BernoulliLogits Poisson TruncatedNormal Gumbel Logistic Weibull VonMises NegativeBinomial2
    """.split()  # noqa: SIM905
)
_RUN_OPTIONS = frozenset(
    ["extra_fields", "init_params", "progress_bar", "stable_update", "forward_mode_differentiation"]
)


@methods("numpyro.infer.MCMC.run")
def run_kernel(call: LibraryCall) -> Value:
    """`MCMC(NUTS(model)).run(key, *args)` compiles the density of the model, whose arguments are not traced."""
    _use_key(call)
    kernel = call.made.args[0] if call.made.args else call.made.kwargs.get("sampler")
    if isinstance(kernel, ExternalObject) and kernel.name in _KERNELS:
        model = kernel.args[0] if kernel.args else kernel.kwargs.get("model")
        _compile(call, kernel.name.rpartition(".")[2], [model], call.args[1:])
    return Static(None)


@methods("numpyro.infer.SVI.run")
def fit_guide(call: LibraryCall) -> Value:
    """`SVI(model, guide, ...).run(key, steps, *args)` compiles the densities of both."""
    _use_key(call)
    made = call.made
    models = [*made.args[:2], made.kwargs.get("model"), made.kwargs.get("guide")]
    _compile(call, "SVI", models, call.args[2:])
    return UNKNOWN


@calls_of_made("numpyro.infer.Predictive")
def draw(call: LibraryCall) -> Value:
    """`Predictive(model, samples)(key, *args)`."""
    _use_key(call)
    return call.otherwise()


def _use_key(call: LibraryCall) -> None:
    key = call.argument(0, "rng_key")
    if key is not None:
        call.machine.part(Keys).use_library_key(key, call.node, call.frame)


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
        form = None if _is_repeated(call) else _form_of_sample(call.argument(1, "fn"), call.node)
        return call.fresh(Array(True, why, origin=Origin("sample"), form=form))
    if isinstance(observed, Array):
        return observed
    return call.opaque()


@methods("numpyro.distributions.*.to_event", "numpyro.distributions.*.mask")
def same_distribution(call: LibraryCall) -> Value:
    """A distribution whose samples have the same shape."""
    return call.made


def _form_of_sample(distribution: Value | None, node: ast.AST) -> Form | None:
    """The shape of a sample of numbers, to which the parameters broadcast."""
    if not isinstance(distribution, ExternalObject):
        return None
    library, _, name = distribution.name.rpartition(".")
    if not library.startswith("numpyro.distributions") or name not in _OF_NUMBERS:
        return None
    options = {key: value for key, value in distribution.kwargs.items() if key != "validate_args"}
    total: Value = Static(0.0, "float")
    for parameter in (*distribution.args, *options.values()):
        added = Operation("add", (total, parameter), {}, node, 0, "jax.numpy.add")
        total = Array(True, form=Form("layer", made=added))
    return total.form if isinstance(total, Array) else Form("layer", made=_scalar(node))


def _scalar(node: ast.AST) -> Operation:
    return Operation("zeros", (TupleValue([]),), {}, node, 0, "jax.numpy.zeros")


def _is_repeated(call: LibraryCall) -> bool:
    """Whether a `with` is around the call, or around a call of its function: a plate repeats a sample."""
    node: ast.AST | None = call.node
    for frame in (call.frame, *call.frame.callers()):
        if node is not None and any(isinstance(above, ast.With) for above in frame.module.ancestors(node)):
            return True
        node = frame.call_node
    return False
