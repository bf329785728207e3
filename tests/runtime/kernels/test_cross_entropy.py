"""Cross-entropies are found in several spellings, computed by blocks of rows, and left alone where they are something else."""

from __future__ import annotations

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from jaxlint_runtime.kernels.implementations import blockwise_cross_entropy
from jaxlint_runtime.kernels.likelihood_operands import Examples, Loss
from jaxlint_runtime.kernels.substitute import evaluate, matches
from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.proof.optimise import Settings, optimise

B, T, D, V = 2, 6, 8, 40
DRAW = np.random.default_rng(0)  # by NumPy: JAX would compile programs while tests are collected
X, W, BIAS = (jnp.asarray(DRAW.standard_normal(shape, np.float32)) for shape in ((B, T, D), (D, V), (V,)))
Y = jnp.asarray(DRAW.integers(0, V, (B, T), np.int32))


def by_optax(x, w, bias, y):
    return optax.softmax_cross_entropy_with_integer_labels(x @ w + bias, y).mean()


def by_optax_one_hot(x, w, bias, y):
    return optax.softmax_cross_entropy(x @ w, jax.nn.one_hot(y, V)).mean()


def by_take_along_axis(x, w, bias, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w), y[..., None], axis=-1))


def by_one_hot_sum(x, w, bias, y):
    return -jnp.sum(
        jax.nn.one_hot(y, V) * jax.nn.log_softmax(jnp.einsum("btd,dv->btv", x, w) + bias), -1
    ).mean()


def by_logsumexp(x, w, bias, y):
    scores = jnp.einsum("btd,vd->btv", x, w.T) * 0.5
    return jnp.mean(jax.nn.logsumexp(scores, axis=-1) - jnp.take_along_axis(scores, y[..., None], -1)[..., 0])


def by_hand(x, w, bias, y):
    scores = x @ w
    scores = scores - jax.lax.stop_gradient(scores.max(-1, keepdims=True))
    picked = jnp.take_along_axis(scores, y[..., None], axis=-1)[..., 0]
    return jnp.mean(jnp.log(jnp.sum(jnp.exp(scores), axis=-1)) - picked)


def tied_and_weighted(x, w, bias, y):
    losses = optax.softmax_cross_entropy_with_integer_labels(x @ w, y)
    return jnp.sum(losses * (y > 3)) / jnp.sum(y > 3)


def of_the_next_token(x, w, bias, y):
    scores = (x @ w + bias)[:, :-1]
    return optax.softmax_cross_entropy_with_integer_labels(scores, y[:, 1:]).mean()


def vmapped(x, w, bias, y):
    return jax.vmap(lambda x, y: optax.softmax_cross_entropy_with_integer_labels(x @ w, y))(x, y).mean()


def by_two_columns_of_indices(x, w, bias, y):
    log_probabilities = jax.nn.log_softmax(x.reshape(-1, D) @ w)
    return -log_probabilities[jnp.arange(B * T), y.reshape(-1)].mean()


@pytest.mark.parametrize(
    "loss",
    [
        by_two_columns_of_indices,
        by_optax,
        by_optax_one_hot,
        by_take_along_axis,
        by_one_hot_sum,
        by_logsumexp,
        by_hand,
        tied_and_weighted,
        of_the_next_token,
        vmapped,
    ],
)
def test_it_is_found_and_computes_the_same(loss, monkeypatch):
    monkeypatch.setattr(blockwise_cross_entropy, "_BLOCK_BYTES", 4 * V * 5)
    monkeypatch.setattr(blockwise_cross_entropy, "_LEAST_ROWS", 5)  # three blocks of twelve rows
    jaxpr = jax.make_jaxpr(loss)(X, W, BIAS, Y)
    found = matches(jaxpr)
    assert [type(match) for match in found.all_layouts()] == [Loss], found.all_near()
    original = jax.jit(
        jax.value_and_grad(lambda *given: jax.extend.core.jaxpr_as_fun(jaxpr)(*given)[0], (0, 1, 2))
    )
    replaced = jax.jit(
        jax.value_and_grad(
            lambda *given: evaluate(found, given, lambda match: blockwise_cross_entropy.log_likelihood)[0],
            (0, 1, 2),
        )
    )
    for a, b in zip(
        jax.tree.leaves(replaced(X, W, BIAS, Y)), jax.tree.leaves(original(X, W, BIAS, Y)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def soft_labels(x, w, bias, y):
    return optax.softmax_cross_entropy(x @ w, jax.nn.softmax(x @ w[:, ::-1])).mean()


def smoothed_labels(x, w, bias, y):
    return optax.softmax_cross_entropy(x @ w, optax.smooth_labels(jax.nn.one_hot(y, V), 0.1)).mean()


def accuracy_too(x, w, bias, y):
    scores = x @ w
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean(), scores.argmax(-1)


def normalised_over_rows(x, w, bias, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w, axis=1), y[..., None], axis=-1))


def some_classes_left_out(x, w, bias, y):
    return optax.softmax_cross_entropy_with_integer_labels((x @ w)[..., :-1], y % (V - 1)).mean()


def not_normalised(x, w, bias, y):
    return -jnp.mean(jnp.take_along_axis(x @ w, y[..., None], axis=-1))


def sum_of_other_scores(x, w, bias, y):
    scores = x @ w
    return jnp.mean(
        jax.nn.logsumexp(0.5 * scores, axis=-1) - jnp.take_along_axis(scores, y[..., None], -1)[..., 0]
    )


def picked_from_other_rows(x, w, bias, y):
    log_probabilities = jax.nn.log_softmax(x.reshape(-1, D) @ w)
    return -log_probabilities[jnp.arange(B * T)[::-1], y.reshape(-1)].mean()


@pytest.mark.parametrize(
    "loss",
    [
        picked_from_other_rows,
        soft_labels,
        smoothed_labels,
        some_classes_left_out,
        accuracy_too,
        normalised_over_rows,
        not_normalised,
        sum_of_other_scores,
    ],
)
def test_what_looks_like_it_is_left_alone(loss):
    assert not matches(jax.make_jaxpr(loss)(X, W, BIAS, Y)).all_layouts()


def test_blocks_take_any_number_of_rows():
    rows = jax.random.normal(jax.random.key(0), (7, D))
    labels = jnp.arange(7)
    expected = jax.nn.log_softmax(0.5 * rows @ W + BIAS)[jnp.arange(7), labels]
    found = blockwise_cross_entropy.log_likelihood(Examples(rows, W.T, labels, BIAS), 0.5)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_the_gradient_of_a_training_step_keeps_no_scores():
    x = jax.random.normal(jax.random.key(0), (1024, 32))
    w = jax.random.normal(jax.random.key(1), (32, 8192))
    y = jnp.arange(1024)

    def step(w, x, y):
        value, gradient = jax.value_and_grad(
            lambda w: optax.softmax_cross_entropy_with_integer_labels(x @ w, y).mean()
        )(w)
        return w - 0.1 * gradient, value

    asked = Settings(target="cpu", transforms=("cross_entropy",), seconds=1.0)
    (found,) = optimise(capture(step, w, x, y), asked)
    assert found.numerics is not None, found
    assert found.numerics.passed
    assert found.after.temp_bytes < 0.6 * found.before.temp_bytes
