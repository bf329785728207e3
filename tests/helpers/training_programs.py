"""Small training programs that the tests of the optimiser share."""

from __future__ import annotations

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import pytest

from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.model import Interval, Result
from jaxlint_runtime.proof import candidate_proof
from jaxlint_runtime.proof.optimise import Settings, optimise
from jaxlint_runtime.proof.paired_timing import Timing

WIDTH, LAYERS = 64, 4
optimiser = optax.adamw(1e-3)


def mlp_parameters(width=WIDTH, layers=LAYERS):
    keys = jax.random.split(jax.random.key(0), layers)
    return [{"w": 0.1 * jax.random.normal(key, (width, width)), "b": jnp.zeros(width)} for key in keys]


def mlp_loss(params, x, y):
    for layer in params:
        x = x + jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean((x - y) ** 2)


def mlp_batch(rows=256, width=WIDTH):
    x = jax.random.normal(jax.random.key(1), (rows, width))
    return x, jnp.roll(x, 1, axis=1)


def mlp_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    updates, opt_state = optimiser.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def mlp_arguments():
    params = mlp_parameters()
    params, state, _ = mlp_step(params, optimiser.init(params), *mlp_batch())
    return params, state, *mlp_batch()


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        heads, width = 2, x.shape[-1]
        y = nn.LayerNorm()(x)
        q, k, v = (nn.DenseGeneral((heads, width // heads))(y) for _ in range(3))
        weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(width / heads))
        x = x + nn.DenseGeneral(width, axis=(-2, -1))(jnp.einsum("bhqk,bkhd->bqhd", weights, v))
        return x + nn.Dense(width)(nn.gelu(nn.Dense(4 * width)(nn.LayerNorm()(x))))


class Transformer(nn.Module):
    vocabulary: int = 64
    width: int = 32
    layers: int = 3

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        for _ in range(self.layers):
            x = Block()(x)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


transformer = Transformer()


def transformer_loss(params, tokens):
    logits = transformer.apply(params, tokens)[:, :-1]
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


def transformer_step(state, tokens):
    params, opt_state = state
    loss, grads = jax.value_and_grad(transformer_loss)(params, tokens)
    updates, opt_state = optimiser.update(grads, opt_state, params)
    return (optax.apply_updates(params, updates), opt_state), loss


@functools.cache
def transformer_arguments():
    tokens = jax.random.randint(jax.random.key(1), (4, 64), 0, transformer.vocabulary)
    params = jax.jit(transformer.init)(jax.random.key(0), tokens)
    return (params, optimiser.init(params)), tokens


def timed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both sides of every comparison take the same time: what is proven then rests on values and memory, and no load changes it."""
    ms, ratio = Interval(10.0, 10.0, 10.0), Interval(1.0, 1.0, 1.0)
    timing = Timing(ms, ms, ratio, blocks=8, calls=1, agreeing=0.5)
    monkeypatch.setattr(candidate_proof, "compare", lambda *subjects: timing)


def run(function, *args, options=None, **settings) -> dict[str, Result]:
    """Results by candidate."""
    settings.setdefault("seconds", 0.5)
    captured = capture(function, *args, options=options)
    return {result.candidate: result for result in optimise(captured, Settings(**settings))}
