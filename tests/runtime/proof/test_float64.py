"""The captured program in float64: it computes what the program means, and draws the same random numbers."""

from __future__ import annotations

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxlint_runtime import compat
from jaxlint_runtime.lowering.function_versions import Version, capture
from jaxlint_runtime.lowering.jaxpr_interpreter import control_flow, evaluate
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.equivalence import tolerance
from jaxlint_runtime.proof.float64 import widened
from jaxlint_runtime.proof.reference import Reference


def run(function: Any, *args: Any) -> list[np.ndarray]:
    return widened(jax.make_jaxpr(function)(*args), [np.asarray(leaf) for leaf in jax.tree.leaves(args)])


def evaluated(function: Any, *args: Any) -> list[Any]:
    """The program once more, each loop made anew from its parts, as transformations of the jaxpr do."""

    def rule(eqn: Any, values: list[Any]) -> Any:
        if eqn.primitive.name != "while":
            return compat.bind(eqn, values)
        bodies = [
            functools.partial(lambda body, *xs: evaluate(body, xs), b) for _, b in compat.inner_jaxprs(eqn)
        ]
        return control_flow(eqn, values, bodies)

    return evaluate(jax.make_jaxpr(function)(*args), args, rule)


def test_a_sum_is_as_exact_as_in_double_precision() -> None:
    x = np.random.default_rng(0).normal(size=10_000).astype(np.float32) * 1e3
    (total,) = run(lambda x: jnp.cumsum(x)[-1] + jnp.float32(0.25), x)
    exact = x.astype(np.float64).sum() + 0.25
    assert total.dtype == np.float64
    assert abs(total - exact) < 1e-8 < abs(np.cumsum(x)[-1] + np.float32(0.25) - exact)


def test_random_draws_integers_and_keys_stay_as_they_are() -> None:
    def draw(key: Any, x: Any) -> Any:
        key, sub = jax.random.split(key)
        dropped = jnp.where(jax.random.bernoulli(sub, 0.5, x.shape), x, 0.0)
        order = jax.random.permutation(sub, 8)
        return key, jax.random.normal(sub, x.shape), dropped, order, jnp.argsort(x)

    key, x = jax.random.PRNGKey(3), jnp.linspace(-1.0, 1.0, 64, dtype=jnp.float32)
    want = draw(key, x)
    got = run(draw, key, x)
    for one, two in zip(got, want, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    assert [one.dtype for one in (got[0], got[3], got[4])] == [
        two.dtype for two in (want[0], want[3], want[4])
    ]
    assert not np.array_equal(got[1], np.asarray(want[1]))  # the same bits, mapped with less rounding


def test_under_vmap_each_loop_ends_when_its_own_condition_does() -> None:
    def halve(x: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[0] > 1.0, lambda c: (c[0] / 2.0, c[1] + 1), (x, 0))

    x = np.asarray([0.5, 9.0, 100.0], np.float32)
    for got in (run(jax.vmap(halve), x), evaluated(jax.vmap(halve), x)):
        np.testing.assert_allclose(got[0], [0.5, 0.5625, 0.78125])
        np.testing.assert_array_equal(got[1], [0, 4, 7])


@pytest.mark.parametrize("length", [3, 40])
def test_loops_branches_and_derivatives(length: int) -> None:
    @jax.custom_vjp
    def soft(x: Any) -> Any:
        return jnp.log1p(jnp.exp(x))

    soft.defvjp(lambda x: (soft(x), x), lambda x, g: (g * jax.nn.sigmoid(x),))

    def loss(w: Any, x: Any) -> Any:
        def step(h: Any, row: Any) -> Any:
            h = jax.checkpoint(jnp.tanh)(h @ w + row)
            return jax.lax.cond(jnp.sum(h) > 0, lambda h: h * 0.5, lambda h: h, h), jnp.sum(soft(h))

        h, seen = jax.lax.scan(step, x[0], x)
        n, h = jax.lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, jax.lax.stop_gradient(h))
        )
        return jnp.sum(h * h) + jnp.mean(seen) + n

    rng = np.random.default_rng(length)
    w = (0.4 * rng.normal(size=(6, 6))).astype(np.float32)
    x = rng.normal(size=(length, 6)).astype(np.float32)
    value, slope = run(jax.value_and_grad(loss), w, x)
    with jax.enable_x64(True):
        want = jax.value_and_grad(loss)(jnp.asarray(w, jnp.float64), jnp.asarray(x, jnp.float64))
    np.testing.assert_allclose(value, want[0], rtol=1e-13)
    np.testing.assert_allclose(slope, want[1], rtol=1e-10, atol=1e-13)


def test_a_training_step_of_a_module_that_asks_for_float32_is_widened_too() -> None:
    model = nn.Sequential([nn.Dense(16, dtype=jnp.float32), nn.LayerNorm(), nn.gelu, nn.Dense(3)])
    x, y = np.ones((8, 5), np.float32) * np.arange(8, dtype=np.float32)[:, None], np.arange(8) % 3
    params = model.init(jax.random.key(0), x)
    tx = optax.adam(1e-2)
    state = tx.init(params)

    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        def loss_fn(params: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, x), y).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    got = run(step, params, state, x, y)
    want = jax.tree.leaves(step(params, state, x, y))
    loss = got[-1]
    assert loss.dtype == np.float64
    assert 0 < abs(loss - float(want[-1])) < 1e-5
    for one, two in zip(got, want, strict=True):
        np.testing.assert_allclose(one, two, rtol=5e-3, atol=2e-4)


def test_an_error_that_rounding_does_not_explain_is_seen_though_a_fixed_tolerance_allows_it() -> None:
    def step(w: Any, x: Any) -> Any:
        return w - 0.1 * jnp.tanh(x @ w)

    rng = np.random.default_rng(0)
    program = Reference(
        capture(step, *(jnp.asarray(rng.normal(size=(32, 32)), jnp.float32) for _ in range(2))), Settings()
    )

    def other(factor: float) -> Any:
        def changed(w: Any, x: Any) -> Any:
            return w - 0.1 * factor * jnp.tanh(x[:, ::-1] @ w[::-1])

        return program.runnable(Version(changed, program.version.options))

    assert program.check(other(1.0), "float32").problem is None  # the sums in another order
    assert program.calibrated
    verdict = program.check(other(1 + 1.2e-5), "float32")
    assert verdict.numerics.max_rel < tolerance("float32")
    assert verdict.problem is not None


def test_a_program_with_a_callback_keeps_the_fixed_tolerance() -> None:
    def step(x: Any) -> Any:
        return jax.pure_callback(lambda x: np.sin(x), jax.ShapeDtypeStruct((3,), jnp.float32), x) * 2

    program = Reference(capture(step, jnp.ones(3)), Settings(magnitudes=()))
    verdict = program.check(
        program.runnable(Version(lambda x: jnp.sin(x) * 2, program.version.options)), "float32"
    )
    assert verdict.problem is None
