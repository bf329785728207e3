"""Modules that are taken apart and put together, and what libraries call of what they are given."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.source.read import read_source
from jaxlint.staging.inspection import inspect_files
from tests.helpers.projects import facts_of, write_project

BLOCK = """
    import jax
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.scale = nnx.Param(jax.random.normal(rngs.params(), (3,)))

        def __call__(self, x):
            return x * self.scale

    model = Block(nnx.Rngs(0))
"""
DENSE = """
    import equinox as eqx
    import jax

    class Dense(eqx.Module):
        weight: jax.Array
        activation: object = eqx.field(static=True)

        def __call__(self, x):
            return self.activation(self.weight * x)

    model = Dense(jax.numpy.ones(3), jax.nn.relu)
"""
CALLS = {
    "nnx: merged in a jit of its state": (
        BLOCK,
        """
    graphdef, state = nnx.split(model)

    @jax.jit
    def step(state, x):
        return nnx.merge(graphdef, state)(x)

    step(state, jax.numpy.ones(3))
    """,
    ),
    "nnx: the structure is passed, the state filtered": (
        BLOCK,
        """
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)

    @jax.jit
    def step(graphdef, params, rest, x):
        def loss(params):
            return nnx.merge(graphdef, params, rest)(x).sum()
        return jax.grad(loss)(params)

    step(graphdef, params, rest, jax.numpy.ones(3))
    """,
    ),
    "nnx: a view of it": (
        BLOCK,
        """
    evaluated = nnx.view(model, deterministic=True)

    @nnx.jit
    def step(model, x):
        return model(x)

    step(evaluated, jax.numpy.ones(3))
    """,
    ),
    "nnx: captured intermediates": (
        BLOCK,
        """
    @nnx.jit
    def step(model, x):
        y, noted = nnx.capture(model, nnx.Intermediate)(x)
        return y, noted

    step(model, jax.numpy.ones(3))
    """,
    ),
    "nnx: a table of its parts": (BLOCK, "    print(nnx.tabulate(model, jax.numpy.ones(3)))"),
    "equinox: partitioned and combined": (
        DENSE,
        """
    params, static = eqx.partition(model, eqx.is_array)

    @jax.jit
    def step(params, x):
        return eqx.combine(params, static)(x)

    step(params, jax.numpy.ones(3))
    """,
    ),
    "equinox: combined with what an optimiser gives": (
        DENSE,
        """
    params, static = eqx.partition(model, eqx.is_inexact_array)

    @jax.jit
    def step(params, x):
        def loss(params):
            return eqx.combine(params, static)(x).sum()
        new = jax.tree.map(lambda p, g: p - g, params, jax.grad(loss)(params))
        return eqx.combine(new, static)(x)

    step(params, jax.numpy.ones(3))
    """,
    ),
    "equinox: updated": (
        DENSE,
        """
    @eqx.filter_jit
    def step(model, updates, x):
        return eqx.tree_at(lambda m: m.weight, eqx.apply_updates(model, updates), x)(x)

    step(model, model, jax.numpy.ones(3))
    """,
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_the_methods_of_what_is_put_together_are_staged(tmp_path: Path, case: str) -> None:
    facts = facts_of(tmp_path, "".join(CALLS[case]))
    call = facts.get("Block.__call__") or facts["Dense.__call__"]
    assert (call.staged, call.basis) == ("yes", "visible"), call
    assert call.params == {"self": "traced", "x": "traced"}
    if "step" in facts and "graphdef" in facts["step"].params:
        assert facts["step"].params["graphdef"] == "static"


def test_modules_without_arrays_stay_what_they_are(tmp_path: Path) -> None:
    program = (
        DENSE
        + """
    params, static = eqx.partition(model, eqx.is_array)

    def name_of(static):
        return str(static.activation)

    @jax.jit
    def step(params):
        return params, name_of(static)
    """
    )
    facts = facts_of(tmp_path, program)
    assert facts["name_of"].staged == "unknown"
    assert facts["Dense.__call__"].basis == "convention"


def test_initialisers_are_traced(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax

        def scaled(key, shape, scale):
            return scale * jax.random.normal(key, shape)

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x):
                kernel = self.param("kernel", scaled, x.shape, 0.1)
                bias = self.param("bias", lambda key: jax.random.normal(key, x.shape))
                count = self.variable("state", "count", lambda: x.sum())
                return x * kernel + bias

        jax.jit(Layer().init)(jax.random.key(0), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["scaled"].staged, facts["scaled"].params["key"]) == ("yes", "traced")
    assert facts["scaled"].params["scale"] == "static"
    assert facts["Layer.__call__.<locals>.<lambda>"].staged == "yes"


def test_tables_of_linen_modules_trace_them(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax

        class Layer(nn.Module):
            def __call__(self, x, training):
                return x * 2 if training else x

        def test_table():
            print(Layer().tabulate(jax.random.key(0), jax.numpy.ones(3), training=True, depth=1))
    """
    facts = facts_of(tmp_path, program)
    assert facts["Layer.__call__"].basis == "visible"
    assert facts["Layer.__call__"].params == {"self": "static", "x": "traced", "training": "static"}


def test_line_searches_trace_the_loss(tmp_path: Path) -> None:
    program = """
        import jax
        import optax

        solver = optax.lbfgs()

        def loss(params):
            return (params ** 2).sum()

        def step(params, state):
            value, grad = jax.value_and_grad(loss)(params)
            return solver.update(grad, state, params, value=value, grad=grad, value_fn=lambda p: loss(p))

        params = jax.numpy.ones(3)
        step(params, solver.init(params))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["step.<locals>.<lambda>"].staged, facts["loss"].params) == ("yes", {"params": "traced"})


def test_rules_of_primitives_are_staged(tmp_path: Path) -> None:
    program = """
        from functools import partial

        from jax.interpreters import ad, batching, mlir
        from somewhere import Primitive

        primitive = Primitive("doubled")

        def wrapped(rule):
            def wrapper(*args, **params):
                return rule(*args, **params)
            return wrapper

        def implementation(x, *, scale):
            return helper(x) * scale

        def jvp(primals, tangents, *, scale):
            return primals, tangents

        def batch(args, dims, *, scale):
            return args, dims

        def transpose(name, ct, x):
            return [ct]

        mlir.register_lowering(primitive, mlir.lower_fun(implementation, multiple_results=False))
        ad.primitive_jvps[primitive] = wrapped(jvp)
        batching.primitive_batchers[primitive] = batch
        ad.primitive_transposes[primitive] = partial(transpose, "doubled")

        def helper(x):
            return x + 1
    """
    facts = facts_of(tmp_path, program)
    assert facts["implementation"].params == {"x": "traced", "scale": "unknown"}
    assert facts["helper"].params == {"x": "traced"}
    assert facts["jvp"].params == {"primals": "traced", "tangents": "traced", "scale": "unknown"}
    assert facts["batch"].params["args"] == "traced"
    assert facts["batch"].params["dims"] != "traced"
    assert facts["transpose"].params["name"] == "static"
    assert facts["wrapped.<locals>.wrapper"].staged == "yes"


def test_stacked_layers_and_tables_of_haiku_are_staged(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax
        import jax.numpy as jnp

        def layer(x):
            return x * 2

        def model(x):
            return hk.layer_stack(3)(layer)(x)

        def shown(x):
            return x + 1

        def test_model():
            hk.transform(model).init(jax.random.key(0), jnp.ones(3))
            with jax.disable_jit():
                print(hk.experimental.tabulate(hk.transform(shown))(jnp.ones(3)))
    """
    facts = facts_of(tmp_path, program)
    for name in ("layer", "shown"):
        assert (facts[name].basis, facts[name].params) == ("visible", {"x": "traced"})


def test_layers_lifted_with_axes_are_staged(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax
        from flax.linen import partitioning

        class Block(nn.Module):
            def __call__(self, x):
                return x, None

        class Model(nn.Module):
            @nn.compact
            def __call__(self, x):
                return partitioning.scan_with_axes(Block, length=3, axis_name="layers")()(x)

        class Branches(nn.Module):
            def first(self, x):
                return x

            def second(self, y):
                return y + 1

            def __call__(self, x):
                return nn.cond(x.sum() > 0, self.first, self.second, self, x)

        def main():
            Model().init(jax.random.key(0), jax.numpy.ones(3))
            Branches().init(jax.random.key(0), jax.numpy.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["Block.__call__"].basis, facts["Block.__call__"].params["x"]) == ("visible", "traced")
    assert facts["Branches.first"].params["x"] == facts["Branches.second"].params["y"] == "traced"


def test_rules_of_custom_derivatives_of_equinox_are_staged(tmp_path: Path) -> None:
    program = """
        import equinox as eqx
        import jax

        @eqx.filter_custom_vjp
        def scaled(x, factor):
            return x * factor

        @scaled.def_fwd
        def forward(perturbed, x, factor):
            return scaled(x, factor), (x, factor)

        @scaled.def_bwd
        def backward(residuals, grad, perturbed, x, factor):
            return grad * residuals[1]

        @jax.jit
        def step(x):
            return scaled(x, 2.0)
    """
    facts = facts_of(tmp_path, program)
    assert (facts["forward"].staged, facts["forward"].params["x"]) == ("yes", "traced")
    assert facts["forward"].params["perturbed"] != "traced"
    assert facts["backward"].params["residuals"] == facts["backward"].params["grad"] == "traced"


def test_a_library_uses_its_own_transformations(tmp_path: Path) -> None:
    project = {
        "equinox/__init__.py": "from ._vmap_pmap import filter_vmap as filter_vmap\n",
        "equinox/_vmap_pmap.py": "def filter_vmap(fun, **options):\n    return fun\n",
        "equinox/nn/__init__.py": "from ._mlp import called as called\n",
        "equinox/nn/_mlp.py": """
            import jax
            from .._vmap_pmap import filter_vmap

            def called(a, b):
                return a(b)

            mapped = filter_vmap(called)
        """,
    }
    facts = facts_of(tmp_path, project)
    assert (facts["called"].staged, facts["called"].basis) == ("yes", "visible")


FILTERS = """
    def in_stage(path, leaf):
        return "scale" in path and leaf.ndim > 0

    def on_host(path, leaf):
        return "scale" in path

    @nnx.jit
    def forward(model, x):
        definition, scales, rest = nnx.split(model, in_stage, ...)
        return model(x)

    forward(model, jax.numpy.ones(3))
    nnx.state(model, on_host)
"""


def test_filters_are_called_with_what_they_choose_from(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, BLOCK + FILTERS)
    assert facts["in_stage"].staged == "yes"
    assert facts["in_stage"].params == {"path": "static", "leaf": "traced"}
    assert facts["on_host"].staged == "no"


def test_a_kernel_of_numpyro_traces_the_samples_of_a_model_and_not_its_arguments(tmp_path: Path) -> None:
    program = """
        import jax
        import numpyro
        import numpyro.distributions as dist
        from numpyro.infer import MCMC, NUTS

        def rate(early, late, day, tau):
            return early if day < tau else late

        def model(counts, days, y=None):
            tau = numpyro.sample("tau", dist.Uniform(0.0, 10.0))
            for day in range(days):
                rate(1.0, 2.0, day, tau)
            numpyro.sample("y", dist.Poisson(tau), obs=y)

        mcmc = MCMC(NUTS(model), num_warmup=5, num_samples=5)
        mcmc.run(jax.random.key(0), [3, 4], 2, y=None)
    """
    facts = facts_of(tmp_path, program)
    assert facts["model"].params == {"counts": "static", "days": "static", "y": "static"}
    assert facts["rate"].params == {"early": "static", "late": "static", "day": "static", "tau": "traced"}


def test_what_haiku_makes_of_a_function_is_a_pair(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax
        import jax.numpy as jnp

        def model(x):
            return x * hk.get_parameter("w", [3], init=jnp.ones)

        def other(x):
            return x

        def on_host(x):
            return x

        init, apply = hk.transform(model)
        params = init(jax.random.key(0), jnp.ones(3))
        jax.vmap(apply, in_axes=(None, None, 0))(params, None, jnp.ones((2, 3)))

        with_key = hk.transform(other)
        without_key = hk.without_apply_rng(with_key)
        jax.jit(with_key.apply)({}, None, jnp.ones(3))
        _, host = hk.transform(on_host)
        host({}, None, jnp.ones(3))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["model"].staged, facts["model"].params) == ("yes", {"x": "traced"})
    assert (facts["other"].staged, facts["other"].params) == ("yes", {"x": "traced"})
    assert facts["on_host"].staged == "no"


def test_a_variable_of_linen_holds_arrays(tmp_path: Path) -> None:
    program = """
        import flax.linen as nn
        import jax
        import jax.numpy as jnp

        def centred(x, mean, axis):
            return x - mean

        def kept(mean):
            return mean

        class Norm(nn.Module):
            def setup(self):
                self.mean = self.variable("stats", "mean", jnp.zeros, (3,))

            def __call__(self, x):
                return centred(x, self.mean.value, 0)

        norm = Norm()
        variables = norm.init(jax.random.key(0), jnp.ones(3))
        jax.jit(norm.apply)(variables, jnp.ones(3))
        kept(variables["stats"]["mean"])
    """
    facts = facts_of(tmp_path, program)
    assert facts["centred"].params == {"x": "traced", "mean": "traced", "axis": "static"}
    assert facts["kept"].staged == "no"


def test_a_library_evaluates_what_its_own_decorators_with_options_give(tmp_path: Path) -> None:
    project = {
        "haiku/__init__.py": "from ._src.layer_stack import layer_stack as layer_stack\n",
        "haiku/_src/__init__.py": "",
        "haiku/_src/layer_stack.py": """
            import jax

            def layer_stack(count):
                def iterate(f):
                    def wrapped(x):
                        def body(carry, _):
                            return f(carry), None
                        return jax.lax.scan(body, x, None, length=count)[0]
                    return wrapped
                return iterate
        """,
        "test_stack.py": """
            import jax.numpy as jnp
            from haiku._src import layer_stack

            def test_stack():
                layer_stack.layer_stack(3)(lambda x: x * 2)(jnp.ones(3))
        """,
    }
    facts = facts_of(tmp_path, project)
    body = facts["layer_stack.<locals>.iterate.<locals>.wrapped.<locals>.body"]
    assert (body.staged, body.params["carry"]) == ("yes", "traced")
    assert facts["layer_stack.<locals>.iterate.<locals>.wrapped"].staged != "yes"


def test_a_function_below_a_decorator_of_stacked_layers_is_staged(tmp_path: Path) -> None:
    program = """
        import haiku as hk
        import jax.numpy as jnp

        @hk.layer_stack(3, with_per_layer_inputs=True)
        def layer(x, y):
            return x * y, None

        def model(x, ys):
            return layer(x, ys)

        hk.transform(model).init(None, jnp.ones(3), jnp.ones((3, 3)))
    """
    facts = facts_of(tmp_path, program)
    assert (facts["layer"].staged, facts["layer"].params) == ("yes", {"x": "traced", "y": "traced"})
    assert facts["model"].staged != "yes"


def test_what_layers_of_haiku_alone_call_runs_where_they_do(tmp_path: Path) -> None:
    layers = """
        import haiku as hk

        def normalised(x):
            return x / x.sum()

        def checked(x):
            return x

        class Norm(hk.Module):
            def __call__(self, x):
                return checked(normalised(x))
    """
    tests = """
        import haiku as hk
        import jax.numpy as jnp
        from layers import Norm, checked

        def test_norm():
            hk.transform(lambda x: Norm()(x)).init(None, jnp.ones(3))

        def test_checked():
            checked(jnp.ones(3))
    """
    paths = write_project(tmp_path, {"layers.py": layers, "tests/test_layers.py": tests})
    found, _ = inspect_files([read_source(path, str(path.relative_to(tmp_path))) for path in paths])
    facts = {fact.qualname: fact for fact in found}
    assert (facts["normalised"].staged, facts["normalised"].basis) == ("yes", "convention")
    assert facts["checked"].staged != "yes"
