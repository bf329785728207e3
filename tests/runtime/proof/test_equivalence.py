"""The comparison of values: it must let rounding pass and nothing else."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxlint_runtime.inspection.intermediate_dtypes import coarsest
from jaxlint_runtime.lowering.function_versions import Version, capture
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.equivalence import (
    compare,
    draws,
    identical,
    outcome,
    rounded_inputs,
    tolerance,
)
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.transforms import TRANSFORMS
from tests.helpers.training_programs import (
    mlp_arguments,
    mlp_batch,
    mlp_loss,
    mlp_parameters,
    mlp_step,
    optimiser,
)

bf16 = TRANSFORMS["bf16"]


@pytest.fixture(scope="module")
def program():
    return Reference(capture(mlp_step, *mlp_arguments()), Settings())


def check(program, function, dtype):
    return program.check(program.runnable(Version(function, program.version.options)), dtype)


def step_with(loss, change=lambda grads: grads):
    """The training step of the tests with another loss or changed gradients."""

    def step(params, opt_state, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, opt_state = optimiser.update(change(grads), opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    return step


def reordered(params, x, y):
    """The same loss, its sums in another order."""
    for layer in params:
        left, right = jnp.split(layer["w"], 2)
        x = x + jnp.tanh(x[:, :32] @ left + x[:, 32:] @ right + layer["b"])
    return jnp.mean(jnp.mean((x - y) ** 2, axis=0))


def coarse(params, x, y):
    """The same loss, its products rounded as in bfloat16."""
    rounded = lambda a: jax.lax.reduce_precision(a, 8, 7)  # noqa: E731
    for layer in params:
        x = x + jnp.tanh(rounded(x) @ rounded(layer["w"]) + layer["b"])
    return jnp.mean((x - y) ** 2)


def without_a_layer(params, x, y):
    return mlp_loss(params[:-1], x, y) + 0.0 * params[-1]["w"].sum()


def without_a_bias(params, x, y):
    for layer in params:
        x = x + jnp.tanh(x @ layer["w"] + jax.lax.stop_gradient(layer["b"]))
    return jnp.mean((x - y) ** 2)


def scaled(factor):
    return lambda grads: jax.tree.map(lambda g: factor * g, grads)


def last_stopped(grads):
    return [*grads[:-1], jax.tree.map(jnp.zeros_like, grads[-1])]


def test_the_same_function_in_another_order_passes(program):
    compared = check(program, step_with(reordered), "float32")
    assert compared.problem is None
    assert 0 < compared.numerics.max_rel < 1e-4
    assert compared.numerics.gradient_cosine > 0.9999


def test_bfloat16_products_pass_as_bfloat16_and_not_as_float32(program):
    assert check(program, step_with(coarse), "bfloat16").problem is None
    assert check(program, step_with(coarse), "float32").problem is not None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(step_with(without_a_layer), id="a layer left out"),
        pytest.param(step_with(without_a_bias), id="the biases' gradients dropped"),
        pytest.param(step_with(mlp_loss, last_stopped), id="the last layer's gradient dropped"),
        pytest.param(step_with(mlp_loss, scaled(1.2)), id="gradients a fifth too large"),
        pytest.param(step_with(mlp_loss, scaled(-1.0)), id="gradients with the wrong sign"),
        pytest.param(step_with(lambda p, x, y: mlp_loss(p, x, y) + 0.01), id="the loss off by a hundredth"),
    ],
)
def test_wrong_functions_fail(program, wrong, dtype):
    compared = check(program, wrong, dtype)
    assert compared.problem is not None
    assert not compared.numerics.passed


def test_a_wrong_gradient_at_a_tiny_learning_rate_fails():
    def step(params, x, y, sign=1.0):
        grads = jax.grad(mlp_loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - sign * 1e-4 * g, params, grads)

    program = Reference(capture(step, mlp_parameters(), *mlp_batch()), Settings(magnitudes=()))
    assert check(program, step, "float32").problem is None
    assert check(program, lambda *args: step(*args, sign=-1.0), "float32").problem is not None
    assert check(program, lambda p, x, y: jax.tree.map(lambda a: 1.0 * a, p), "bfloat16").problem is not None


def test_the_gradient_of_a_loss_is_checked_where_the_value_says_nothing():
    program = Reference(capture(mlp_loss, mlp_parameters(), *mlp_batch()), Settings(magnitudes=()))

    def flat(params, x, y):
        return jax.lax.stop_gradient(mlp_loss(params, x, y))

    right, wrong = Version(reordered, program.version.options), Version(flat, program.version.options)
    assert program.check(program.runnable(wrong), "float32").problem is None
    assert program.check_gradients(right, "float32").problem is None
    assert program.check_gradients(wrong, "float32").problem is not None


def test_the_noise_that_adam_blows_up_is_not_held_against_a_version():
    """The bias of attention's keys has a zero gradient: its update is the sign of a rounding error."""

    def loss(params, x):
        scores = (x @ params["q"]) @ (x @ params["k"] + params["b"]).T
        return jnp.mean((jax.nn.softmax(scores) @ x) ** 2)

    def step(params, state, x):
        updates, state = optimiser.update(jax.grad(loss)(params, x), state, params)
        return optax.apply_updates(params, updates), state

    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "q": 0.2 * jax.random.normal(keys[0], (64, 64)),
        "k": 0.2 * jax.random.normal(keys[1], (64, 64)),
        "b": jnp.zeros(64),
    }
    x = jax.random.normal(keys[2], (128, 64))
    program = Reference(capture(step, params, optimiser.init(params), x), Settings(transforms=("bf16",)))
    (candidate,) = bf16.propose(program)
    version = bf16.emulate(program, candidate, program.version)
    assert program.check(program.runnable(version), "bfloat16").problem is None


def observed(*leaves):
    return outcome(tuple(jnp.asarray(leaf) for leaf in leaves))


@pytest.mark.parametrize(
    ("left", "right", "problem"),
    [
        pytest.param([1, 2], [1, 3], "1 of 2 values differ", id="integers are exact"),
        pytest.param([True], [False], "1 of 1 values differ", id="booleans are exact"),
        pytest.param([1.0, np.nan], [1.0, np.nan], None, id="NaN in the same place"),
        pytest.param([1.0, np.nan], [np.nan, 1.0], "NaN at other positions", id="NaN elsewhere"),
        pytest.param([np.inf, 1.0], [np.inf, 1.0], None, id="the same infinity"),
        pytest.param([np.inf, 1.0], [-np.inf, 1.0], "infinities at other positions", id="another infinity"),
        pytest.param([1.0, 0.0], [1.0, 1e-9], None, id="a zero that is noise beside the rest"),
        pytest.param([0.0, 0.0], [0.0, 1e-3], "relative error", id="something where nothing is"),
        pytest.param([1.0, 2.0], [1.0, 2.0, 3.0], "instead of", id="another shape"),
    ],
)
def test_values_one_by_one(left, right, problem):
    found = compare(observed(np.array(left)), observed(np.array(right)), tolerance("float32")).problem
    assert found is None if problem is None else problem in found


def test_a_small_output_is_not_hidden_behind_a_large_one():
    big = 1e6 * np.ones(100, np.float32)
    left, right = observed(big, np.float32(1.0)), observed(big, np.float32(1.5))
    assert compare(left, right, tolerance("float32")).problem is not None


def test_identical_means_every_bit():
    assert identical(observed(np.float32([0.0])), observed(np.float32([0.0])))
    assert not identical(observed(np.float32([0.0])), observed(np.float32([-0.0])))


def test_a_random_key_must_be_the_same():
    left, right = outcome((jax.random.key(1),)), outcome((jax.random.key(2),))
    assert compare(left, left, 1.0).problem is None
    assert compare(left, right, 1.0).problem is not None


def test_draws_vary_floats_alone_and_keep_signs_and_zeros():
    leaves = [np.float32([-1.0, 0.0, 2.0]), np.arange(3), np.array([True, False]), 3, jax.random.key(0)]
    first, varied = draws(leaves, (0.1,), seed=0)
    assert first == leaves or all(a is b for a, b in zip(first, leaves, strict=True))
    assert varied[0].dtype == np.float32
    assert np.array_equal(np.sign(varied[0]), np.sign(leaves[0]))
    assert np.all(np.abs(varied[0]) <= 0.11 * np.abs(leaves[0]) + 1e-9)
    assert all(a is b for a, b in zip(varied[1:], leaves[1:], strict=True))
    again = draws(leaves, (0.1,), seed=0)[1]
    assert np.array_equal(varied[0], again[0])


def test_rounding_moves_by_half_a_unit_of_the_dtype():
    (moved,) = rounded_inputs([np.ones(100, np.float32)], "bfloat16", seed=0)
    assert np.allclose(np.abs(moved - 1), 2.0**-8)


def test_tolerances_follow_the_dtypes():
    assert tolerance("float64") < tolerance("float32") < tolerance("bfloat16") < 0.05
    assert coarsest(["float32", "int32", "bfloat16"]) == "bfloat16"
    assert coarsest(["int32"]) == "float32"


def test_a_function_that_does_not_repeat_itself_is_noticed():
    counter = iter(range(1, 100))

    def tick(x):
        noise = jax.pure_callback(
            lambda: np.float32(1e-7 * next(counter)), jax.ShapeDtypeStruct((), "float32")
        )
        return x + noise

    program = Reference(capture(tick, jnp.zeros(3)), Settings())
    assert not program.deterministic
    still = Reference(capture(lambda x: x + 1, jnp.zeros(3)), Settings())
    assert still.deterministic


def test_a_version_of_the_original_with_other_options_is_compared_with_donated_buffers(program):
    version = Version(mlp_step, replace(program.version.options, donate_argnums=(0, 1)))
    assert program.check(program.runnable(version), None).problem is None
