"""Attention in many spellings, and what only looks like it: the tables that the tests of the matcher go through.

Each entry is a function and its arguments. Sizes of axes differ, so that none can be taken for another.
"""

from __future__ import annotations

import functools

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from tests.helpers.later import Later

B, H, T, S, D, E = 2, 4, 24, 40, 8, 12
WIDTH = H * D
MASK = np.tril(np.ones((T, T), bool))


def normal(*shape, dtype=jnp.float32, seed=0):
    """Made by NumPy: JAX would compile a program for each shape, while tests are collected."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype))


def heads(time=T, positions=S, depth=D, width=E, dtype=jnp.float32):
    """Queries, keys and values of [B, H, T, D]."""
    return (
        normal(B, H, time, depth, dtype=dtype),
        normal(B, H, positions, depth, dtype=dtype, seed=1),
        normal(B, H, positions, width, dtype=dtype, seed=2),
    )


def last(dtype=jnp.float32, time=T, positions=S):
    """Queries, keys and values of [B, T, H, D]."""
    return tuple(
        jnp.asarray(np.asarray(x).transpose(0, 2, 1, 3)) for x in heads(time, positions, dtype=dtype)
    )


SPELLINGS = {}
LOOKALIKES = {}


def spelling(*arguments):
    return functools.partial(_add, SPELLINGS, arguments)


def lookalike(*arguments):
    return functools.partial(_add, LOOKALIKES, arguments)


def _add(table, arguments, function):
    table[function.__name__] = (function, arguments)
    return function


# ---- products ----


@spelling(*heads())
def einsum_and_softmax(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, k) / jnp.sqrt(D), axis=-1)
    return jnp.einsum("bhts,bhsd->bhtd", weights, v)


@spelling(*heads())
def matmul_and_swapaxes(q, k, v):
    return jax.nn.softmax((q @ k.swapaxes(-1, -2)) * D**-0.5) @ v


@spelling(*heads())
def dot_general(q, k, v):
    logits = jax.lax.dot_general(q, k, (((3,), (3,)), ((0, 1), (0, 1))))
    return jax.lax.dot_general(jax.nn.softmax(logits), v, (((3,), (2,)), ((0, 1), (0, 1))))


@spelling(*last())
def heads_after_time(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.2)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@spelling(*heads())
def keys_before_queries(q, k, v):
    """The scores transposed, the softmax over their second axis from the end."""
    logits = jnp.einsum("bhsd,bhtd->bhst", k, q)
    return jnp.einsum("bhst,bhsd->bhtd", jax.nn.softmax(logits, axis=2), v)


@spelling(*heads())
def merged_batch(q, k, v):
    """Batch and heads in one axis, as ports from PyTorch have it."""
    q, k, v = (x.reshape(B * H, x.shape[2], x.shape[3]) for x in (q, k, v))
    logits = jnp.matmul(q, k.transpose(0, 2, 1)).reshape(B, H, T, S) + 0.0
    weights = jax.nn.softmax(logits, -1).reshape(B * H, T, S)
    return jnp.matmul(weights, v).reshape(B, H, T, E)


@spelling(normal(T, D), normal(S, D, seed=1), normal(S, E, seed=2))
def one_head(q, k, v):
    return jnp.dot(jax.nn.softmax(jnp.dot(q, k.T)), v)


@spelling(normal(D), normal(S, D, seed=1), normal(S, E, seed=2))
def one_query(q, k, v):
    return jax.nn.softmax(k @ q) @ v


@spelling(normal(6, D), normal(5, S, D, seed=1), normal(5, S, E, seed=2))
def pooling_by_learned_queries(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("nd,bsd->bns", q, k), axis=-1)
    return jnp.einsum("bns,bse->bne", weights, v)


# ---- softmax ----


@spelling(*heads())
def softmax_by_hand(q, k, v):
    logits = jnp.einsum("bhtd,bhsd->bhts", q, k) * 0.3
    raised = jnp.exp(logits - jnp.max(logits, axis=-1, keepdims=True))
    return (raised / jnp.sum(raised, axis=-1, keepdims=True)) @ v


@spelling(*heads())
def maximum_without_gradient(q, k, v):
    logits = 0.3 * q @ k.swapaxes(2, 3)
    raised = jnp.exp(logits - jax.lax.stop_gradient(logits.max(-1)[..., None]))
    return jnp.einsum("bhts,bhsd->bhtd", raised * (1.0 / raised.sum(-1)[..., None]), v)


@spelling(*heads())
def divided_after_the_product(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    raised = jnp.exp(logits - logits.max(-1, keepdims=True))
    return (raised @ v) / raised.sum(-1, keepdims=True)


@spelling(*heads())
def no_maximum(q, k, v):
    raised = jnp.exp(0.1 * q @ k.swapaxes(2, 3))
    return raised @ v / jnp.sum(raised, -1, keepdims=True)


@spelling(*heads())
def by_log_softmax(q, k, v):
    return jnp.exp(jax.nn.log_softmax(q @ k.swapaxes(2, 3))) @ v


@spelling(*heads())
def by_logsumexp(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    return jnp.exp(logits - jax.nn.logsumexp(logits, axis=-1, keepdims=True)) @ v


@spelling(*heads())
def powers_of_two(q, k, v):
    logits = (q * (D**-0.5 * 1.4426950408889634)) @ k.swapaxes(2, 3)
    raised = jnp.exp2(logits - logits.max(-1, keepdims=True))
    return raised @ v / raised.sum(-1, keepdims=True)


@spelling(*heads(dtype=jnp.bfloat16))
def float32_softmax(q, k, v):
    logits = jnp.einsum("bhtd,bhsd->bhts", q, k).astype(jnp.float32) / D**0.5
    return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(logits).astype(jnp.bfloat16), v)


@spelling(*heads(dtype=jnp.bfloat16))
def float32_product(q, k, v):
    logits = jnp.einsum("bhtd,bhsd->bhts", q, k, preferred_element_type=jnp.float32) * 0.2
    return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(logits).astype(v.dtype), v)


# ---- scales ----


@spelling(*heads())
def scaled_queries(q, k, v):
    return jax.nn.softmax((q / jnp.sqrt(q.shape[-1])) @ k.swapaxes(2, 3)) @ v


@spelling(*heads(), jnp.float32(0.7))
def learned_temperature(q, k, v, temperature):
    return jax.nn.softmax(q @ k.swapaxes(2, 3) / temperature) @ v


@spelling(*heads(), jnp.asarray(np.linspace(0.5, 1.5, H, dtype=np.float32)))
def temperature_by_head(q, k, v, temperature):
    return jax.nn.softmax(q @ k.swapaxes(2, 3) * temperature[None, :, None, None]) @ v


@spelling(*heads())
def capped_scores(q, k, v):
    logits = q @ k.swapaxes(2, 3) / 5.0
    return jax.nn.softmax(5.0 * jnp.tanh(logits)) @ v


# ---- masks and biases ----


@spelling(*heads(positions=T))
def causal_by_tril(q, k, v):
    logits = jnp.where(jnp.tril(jnp.ones((T, T), bool)), q @ k.swapaxes(2, 3), -1e9)
    return jax.nn.softmax(logits) @ v


@spelling(*heads(positions=T))
def causal_by_iota(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    rows = jax.lax.broadcasted_iota(jnp.int32, logits.shape, 2)
    columns = jax.lax.broadcasted_iota(jnp.int32, logits.shape, 3)
    return jax.nn.softmax(jnp.where(columns > rows, jnp.finfo(jnp.float32).min, logits)) @ v


@spelling(*heads(positions=T))
def causal_by_addition(q, k, v):
    bias = jnp.triu(jnp.full((T, T), -1e30), 1)
    return jax.nn.softmax(q @ k.swapaxes(2, 3) + bias) @ v


@spelling(*heads(positions=T))
def causal_from_numpy(q, k, v):
    return jax.nn.softmax(jnp.where(MASK[None, None], q @ k.swapaxes(2, 3), -jnp.inf)) @ v


@spelling(*heads(positions=T), jnp.asarray(np.arange(T)[None, :] < np.array([[T], [9]])))
def causal_and_padding(q, k, v, valid):
    mask = jnp.logical_and(jnp.tril(jnp.ones((1, 1, T, T), bool)), valid[:, None, None, :])
    return jax.nn.softmax(jnp.where(mask, q @ k.swapaxes(2, 3), -1e10)) @ v


@spelling(*heads(), jnp.asarray((np.arange(S) % 7 > 0)[None].repeat(B, 0).astype(np.float32)))
def padding_as_large_negatives(q, k, v, valid):
    return jax.nn.softmax(q @ k.swapaxes(2, 3) + (1.0 - valid)[:, None, None, :] * -1e9) @ v


@spelling(*heads(), jnp.asarray(np.arange(S)[None, :] < np.array([[S], [9]])))
def mask_of_softmax(q, k, v, valid):
    return jax.nn.softmax(q @ k.swapaxes(2, 3), where=valid[:, None, None, :]) @ v


@spelling(*heads(), jnp.asarray(np.arange(S)[None, :] < np.array([[S], [9]])))
def exponentials_masked(q, k, v, valid):
    logits = q @ k.swapaxes(2, 3)
    raised = jnp.exp(logits - logits.max(-1, keepdims=True)) * valid[:, None, None, :].astype(jnp.float32)
    return raised @ v / raised.sum(-1, keepdims=True)


@spelling(*heads(), normal(H, T, S, seed=3))
def relative_position_bias(q, k, v, bias):
    return jax.nn.softmax(q @ k.swapaxes(2, 3) * 0.2 + bias) @ v


@spelling(*heads(positions=T))
def alibi(q, k, v):
    distance = jnp.arange(T)[None, :] - jnp.arange(T)[:, None]
    logits = q @ k.swapaxes(2, 3) + 2.0 ** -jnp.arange(1.0, H + 1)[:, None, None] * distance
    return jax.nn.softmax(jnp.where(distance <= 0, logits, -1e9)) @ v


# ---- groups of heads ----


@spelling(normal(B, T, 6, D), normal(B, S, 2, D, seed=1), normal(B, S, 2, E, seed=2))
def repeated_keys(q, k, v):
    k, v = (jnp.repeat(x, 3, axis=2) for x in (k, v))
    weights = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k))
    return jnp.einsum("bhts,bshe->bthe", weights, v)


@spelling(normal(B, T, 6, D), normal(B, S, 2, D, seed=1), normal(B, S, 2, E, seed=2))
def grouped_queries(q, k, v):
    q = q.reshape(B, T, 2, 3, D)
    weights = jax.nn.softmax(jnp.einsum("btkgd,bskd->bkgts", q, k), axis=-1)
    return jnp.einsum("bkgts,bske->btkge", weights, v).reshape(B, T, 6, E)


@spelling(normal(B, T, H, D), normal(B, S, D, seed=1), normal(B, S, E, seed=2))
def one_head_of_keys(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bthd,bsd->bhts", q, k))
    return jnp.einsum("bhts,bse->bthe", weights, v)


# ---- transformations ----


@spelling(*heads())
def vmapped(q, k, v):
    return jax.vmap(jax.vmap(one_head))(q, k, v)


@spelling(*last())
def vmapped_over_inner_axes(q, k, v):
    over_heads = jax.vmap(one_head, in_axes=1, out_axes=1)
    return jax.vmap(over_heads)(q, k, v)


@spelling(*heads())
def loop_over_heads(q, k, v):
    return jnp.stack([jax.vmap(one_head)(q[:, h], k[:, h], v[:, h]) for h in range(H)], axis=1)


@spelling(*heads())
def mapped_over_heads(q, k, v):
    swapped = (x.swapaxes(0, 1) for x in (q, k, v))
    return jax.lax.map(lambda xs: jax.vmap(one_head)(*xs), tuple(swapped)).swapaxes(0, 1)


@spelling(*heads())
def scanned(q, k, v):
    def layer(x, _):
        return x + jax.nn.softmax(x @ k.swapaxes(2, 3)) @ v[..., :D], None

    return jax.lax.scan(layer, q, None, length=3)[0]


@spelling(*heads())
def jitted_inside(q, k, v):
    return jax.jit(einsum_and_softmax)(q, k, v)


@spelling(*heads())
def checkpointed(q, k, v):
    return jax.checkpoint(einsum_and_softmax)(q, k, v)


@spelling(*last())
def of_jax_nn(q, k, v):
    return jax.nn.dot_product_attention(q, k, v[..., :D])


@spelling(*last(positions=T))
def of_jax_nn_causal(q, k, v):
    return jax.nn.dot_product_attention(q, k, v[..., :D], is_causal=True, scale=0.3)


# ---- libraries ----

_x = normal(B, T, WIDTH)
_linen = nn.MultiHeadDotProductAttention(num_heads=H)
_linen_parameters = Later(lambda: _linen.init(jax.random.key(0), _x))


@spelling(_linen_parameters, _x)
def linen(parameters, x):
    return _linen.apply(parameters, x)


@spelling(_linen_parameters, _x)
def linen_causal(parameters, x):
    return _linen.apply(parameters, x, mask=nn.make_causal_mask(x[..., 0]))


@spelling(_linen_parameters, _x)
def linen_of_zero_dropout(parameters, x):
    module = nn.MultiHeadDotProductAttention(num_heads=H, dropout_rate=0.1, deterministic=True)
    return module.apply(parameters, x)


_nnx = Later(
    lambda: nnx.split(nnx.MultiHeadAttention(num_heads=H, in_features=WIDTH, decode=False, rngs=nnx.Rngs(0)))
)


@spelling(Later(lambda: _nnx()[1]), _x)
def nnx_module(state, x):
    return nnx.merge(_nnx()[0], state)(x)


_eqx = Later(
    lambda: eqx.partition(eqx.nn.MultiheadAttention(H, WIDTH, key=jax.random.key(0)), eqx.is_inexact_array)
)


@spelling(Later(lambda: _eqx()[0]), _x)
def equinox(parameters, x):
    module = eqx.combine(parameters, _eqx()[1])
    return jax.vmap(lambda x: module(x, x, x))(x)


@spelling(Later(lambda: _eqx()[0]), _x)
def equinox_masked(parameters, x):
    module = eqx.combine(parameters, _eqx()[1])
    mask = jnp.tril(jnp.ones((T, T), bool))
    return jax.vmap(lambda x: module(x, x, x, mask=mask))(x)


def _haiku(x):
    attention = hk.MultiHeadAttention(H, D, w_init=hk.initializers.VarianceScaling(1.0))
    return attention(x, x, x, mask=jnp.tril(jnp.ones((1, 1, T, T))))


_hk = hk.without_apply_rng(hk.transform(_haiku))
_hk_parameters = Later(lambda: _hk.init(jax.random.key(0), _x))


@spelling(_hk_parameters, _x)
def haiku(parameters, x):
    return _hk.apply(parameters, x)


# ---- what only looks like it ----


@lookalike(*heads(positions=T))
def softmax_over_queries(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(2, 3), axis=-2) @ v


@lookalike(*heads())
def softmax_over_heads(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(2, 3), axis=1) @ v


@lookalike(*heads())
def softmax_over_both(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(2, 3), axis=(-1, -2)) @ v


@lookalike(*heads())
def sigmoid_attention(q, k, v):
    return jax.nn.sigmoid(q @ k.swapaxes(2, 3)) @ v


@lookalike(*heads())
def not_normalised(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    return jnp.exp(logits - logits.max(-1, keepdims=True)) @ v


@lookalike(*heads())
def weights_returned(q, k, v):
    weights = jax.nn.softmax(q @ k.swapaxes(2, 3))
    return weights @ v, weights


@lookalike(*heads())
def scores_used_elsewhere(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    return jax.nn.softmax(logits) @ v + jnp.mean(logits**2)


@lookalike(*heads())
def sum_of_other_exponentials(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    raised = jnp.exp(logits)
    return (raised / jnp.sum(jnp.exp(0.5 * logits), -1, keepdims=True)) @ v


@lookalike(*heads(positions=T))
def divided_along_the_other_axis(q, k, v):
    raised = jnp.exp(q @ k.swapaxes(2, 3))
    return (raised / jnp.sum(raised, -1)[:, :, None, :]) @ v


@lookalike(*heads())
def linear_attention(q, k, v):
    q, k = jnp.exp(q), jnp.exp(k)
    return (q @ (k.swapaxes(2, 3) @ v)) / (q @ k.sum(2)[..., None])


@lookalike(*heads())
def rectified_attention(q, k, v):
    weights = jax.nn.relu(q @ k.swapaxes(2, 3))
    return weights / (weights.sum(-1, keepdims=True) + 1e-6) @ v


@lookalike(*heads())
def one_more_in_the_sum(q, k, v):
    logits = q @ k.swapaxes(2, 3)
    top = logits.max(-1, keepdims=True)
    raised = jnp.exp(logits - top)
    return raised / (jnp.exp(-top) + raised.sum(-1, keepdims=True)) @ v


@lookalike(*heads(), jax.random.key(3))
def dropout(q, k, v, key):
    weights = jax.nn.softmax(q @ k.swapaxes(2, 3))
    return jnp.where(jax.random.bernoulli(key, 0.9, weights.shape), weights / 0.9, 0.0) @ v


@lookalike(_linen_parameters, _x, jax.random.key(3))
def linen_dropout(parameters, x, key):
    module = nn.MultiHeadDotProductAttention(num_heads=H, dropout_rate=0.1, deterministic=False)
    return module.apply(parameters, x, rngs={"dropout": key})


@lookalike(*heads(), normal(B, H, T, S, seed=4))
def temperature_by_pair(q, k, v, temperature):
    return jax.nn.softmax(q @ k.swapaxes(2, 3) * temperature) @ v


@lookalike(*heads())
def weights_squared(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(2, 3)) ** 2 @ v


@lookalike(*heads())
def mixed_heads(q, k, v):
    """Talking heads: the scores of the heads are mixed before the softmax."""
    mixed = jnp.einsum("bhts,hg->bgts", q @ k.swapaxes(2, 3), jnp.eye(H) + 0.1)
    return jax.nn.softmax(mixed) @ v


@lookalike(*heads(), jnp.asarray(np.arange(S)[None, :] < np.array([[S], [9]])))
def weights_masked_afterwards(q, k, v, valid):
    return (jax.nn.softmax(q @ k.swapaxes(2, 3)) * valid[:, None, None, :]) @ v


@lookalike(*heads(), normal(B, H, 1, seed=5))
def a_sink(q, k, v, sink):
    logits = q @ k.swapaxes(2, 3)
    sinks = jnp.broadcast_to(sink[..., None], (B, H, T, 1))
    weights = jax.nn.softmax(jnp.concatenate([logits, sinks], axis=-1))[..., :-1]
    return weights @ v


@lookalike(*heads())
def scores_without_gradient(q, k, v):
    return jax.nn.softmax(jax.lax.stop_gradient(q @ k.swapaxes(2, 3))) @ v


@lookalike(normal(B, T, D), normal(B, S, D, seed=1))
def a_classifier(x, table):
    """Cross-entropy over a vocabulary."""
    return -jnp.mean(jax.nn.log_softmax(jnp.einsum("btd,bsd->bts", x, table))[..., 0])
