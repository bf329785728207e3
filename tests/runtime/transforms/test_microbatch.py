"""Microbatches: found where a loss is a mean or a sum over its batch, proven by values, refused with the reason elsewhere."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

from jaxlint_runtime.model import Status
from jaxlint_runtime.transforms import microbatch
from jaxlint_runtime.wording.units import size
from tests.helpers.training_programs import run

ROWS = 512
ONLY = {"transforms": ("microbatch",), "seconds": 0.1, "measure": False}
optimizer = optax.adam(1e-3)


def arguments(rows=ROWS):
    keys = jax.random.split(jax.random.key(0), 4)
    params = {
        "w": 0.1 * jax.random.normal(keys[0], (32, 64)),
        "v": 0.1 * jax.random.normal(keys[1], (64, 64)),
        "u": 0.1 * jax.random.normal(keys[2], (64, 8)),
    }
    x = jax.random.normal(keys[3], (rows, 32))
    return params, optimizer.init(params), x, jnp.arange(rows) % 8


def hidden(params, x):
    return jnp.tanh(jnp.tanh(x @ params["w"]) @ params["v"])


def entropy(logits, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits, y)


def update(params, state, result, gradients):
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, result


def mean_step(params, state, x, y):
    def loss(params):
        logits = hidden(params, x) @ params["u"]
        penalty = 1e-4 * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
        right = logits.argmax(-1) == y
        return entropy(logits, y).mean() + penalty, {
            "accuracy": right.mean(),
            "right": right.sum(),
            "logits": logits,
        }

    return update(params, state, *jax.value_and_grad(loss, has_aux=True)(params))


def test_a_mean_over_the_batch_with_what_comes_beside_it() -> None:
    results = run(mean_step, *arguments(), **ONLY)
    assert list(results) == ["microbatch:2", "microbatch:4"]
    for result in results.values():
        assert result.status == Status.COMPILED
        assert result.numerics is not None
        assert result.numerics.passed
        assert result.parameters["combined"] == "mean"
        assert result.parameters["arguments"] == ["x", "y"]
        assert result.before is not None
        assert result.after is not None
    half, quarter = (results[f"microbatch:{n}"].after.peak_bytes for n in (2, 4))
    assert half < 0.75 * results["microbatch:2"].before.peak_bytes
    assert quarter < half
    code = results["microbatch:4"].parameters["code"]

    params, _, x, y = arguments(64)

    def loss_fn(params, x, y):
        return entropy(hidden(params, x) @ params["u"], y).mean()

    names = {"jax": jax, "jnp": jnp, "params": params, "x": x, "y": y, "loss_fn": loss_fn}
    exec(code, names)
    loss, gradients = jax.value_and_grad(loss_fn)(params, x, y)
    assert jnp.allclose(names["loss"], loss, rtol=1e-5)
    for one, other in zip(jax.tree.leaves(names["grads"]), jax.tree.leaves(gradients), strict=True):
        assert jnp.allclose(one, other, atol=1e-6)


def test_a_sum_and_the_memory_limit_that_ends_the_search() -> None:
    def step(params, state, x, y):
        def loss(params):
            return entropy(hidden(params, x) @ params["u"], y).sum()

        return update(params, state, *jax.value_and_grad(loss)(params))

    alone = run(step, *arguments(), **ONLY)
    half = alone["microbatch:2"].after.peak_bytes
    assert alone["microbatch:2"].parameters["combined"] == "sum"
    limit = {**ONLY, "transforms": ("donation", "microbatch"), "memory_limit": half + 2**16}
    results = run(step, *arguments(), **limit)
    assert [name for name in results if name.startswith("microbatch")] == ["microbatch:2"]
    assert f"fits the {size(half + 2**16)}"[:8] in results["microbatch:2"].reason
    enough = run(step, *arguments(), **{**limit, "memory_limit": 2**40, "transforms": ("donation",)})
    assert "microbatch:2" not in enough


def test_it_is_a_last_resort_where_nobody_asked_for_it(monkeypatch) -> None:
    monkeypatch.setattr(microbatch, "_COUNTS", (2, 4))

    def step(params, state, x, y):
        def loss(params):
            return entropy(hidden(params, x) @ params["u"], y).mean()

        return update(params, state, *jax.value_and_grad(loss)(params))

    quick = {"seconds": 0.1, "measure": False}
    assert not any("microbatch" in name for name in run(step, *arguments(64), memory_limit=2**40, **quick))
    tight = run(step, *arguments(256), memory_limit=2**10, **quick)
    assert [name for name in tight if name.startswith("microbatch")] == ["microbatch:2", "microbatch:4"]
    assert "does not fit" in tight["microbatch:4"].reason
    assert "with donation" in tight["microbatch:4"].evidence


def batch_norm(params, x, y):
    h = hidden(params, x)
    return entropy((h - h.mean(0)) / (h.std(0) + 1e-5) @ params["u"], y).mean()


def masked(params, x, y):
    weights = (y >= 0).astype(jnp.float32)
    return (entropy(hidden(params, x) @ params["u"], y) * weights).sum() / weights.sum()


def contrastive(params, x, y):
    h = hidden(params, x)
    return jax.nn.logsumexp(h @ h.T, axis=1).mean()


def dropout(params, x, y):
    kept = jax.random.bernoulli(jax.random.key(1), 0.5, x.shape)
    return entropy(hidden(params, x * kept) @ params["u"], y).mean()


def logarithm(params, x, y):
    return jnp.log(entropy(hidden(params, x) @ params["u"], y).sum())


def worst(params, x, y):
    return entropy(hidden(params, x) @ params["u"], y).max()


def first(params, x, y):
    return entropy(hidden(params, x) @ params["u"], y)[0]


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        (batch_norm, "used for each example (tests/runtime/transforms/test_microbatch.py:"),
        (masked, "`div` takes a sum"),
        (contrastive, "each example is compared with the whole batch"),
        (dropout, "random numbers are drawn for the whole batch"),
        (logarithm, "`log` takes a sum"),
        (worst, "`reduce_max` runs over the batch"),
        (first, "over the batch"),
    ],
)
def test_a_batch_that_is_coupled_is_refused_with_the_reason(loss, reason, monkeypatch, request) -> None:
    monkeypatch.chdir(request.config.rootpath)

    def step(params, state, x, y):
        return update(params, state, *jax.value_and_grad(loss)(params, x, y))

    found = run(step, *arguments(64), **ONLY)["microbatch"]
    assert found.status == Status.NOT_APPLICABLE
    assert reason in found.reason


def test_what_has_no_batch_or_not_one_derivative_is_refused() -> None:
    def twice(params, state, x, y):
        one = jax.grad(lambda p: entropy(hidden(p, x) @ p["u"], y).mean())(params)
        two = jax.grad(lambda p: (hidden(p, x) ** 2).mean())(params)
        return jax.tree.map(jnp.add, one, two)

    assert "2 gradients" in run(twice, *arguments(64), **ONLY)["microbatch"].reason
    assert "no gradient" in run(lambda x: x * 2, jnp.ones(4), **ONLY)["microbatch"].reason
    alone = run(jax.grad(lambda p: (p**2).sum()), jnp.ones(4), **ONLY)["microbatch"]
    assert "batch axis" in alone.reason
    odd = run(mean_step, *arguments(63), **ONLY)["microbatch"]
    assert "has no equal parts" in odd.reason


def test_modules_of_equinox_and_nnx() -> None:
    x, y = jnp.sin(jnp.arange(512 * 8.0)).reshape(512, 8), jnp.ones((512, 4))
    params, static = eqx.partition(eqx.nn.MLP(8, 4, 64, 2, key=jax.random.key(0)), eqx.is_array)

    def eqx_step(params, x, y):
        def loss(model, x, y):
            return jnp.mean((jax.vmap(model)(x) - y) ** 2)

        value, gradients = eqx.filter_value_and_grad(loss)(eqx.combine(params, static), x, y)
        return value, eqx.filter(
            jax.tree.map(lambda p, g: p - 0.1 * g, params, eqx.filter(gradients, eqx.is_array)), eqx.is_array
        )

    graph, state = nnx.split(
        nnx.Sequential(nnx.Linear(8, 64, rngs=nnx.Rngs(0)), jnp.tanh, nnx.Linear(64, 4, rngs=nnx.Rngs(1)))
    )

    def nnx_step(state, x, y):
        model = nnx.merge(graph, state)
        value, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model), nnx.state(gradients))

    for step, first in ((eqx_step, params), (nnx_step, state)):
        result = run(step, first, x, y, **ONLY)["microbatch:2"]
        assert result.status == Status.COMPILED, result.reason
        assert result.parameters["arguments"] == ["x", "y"]
