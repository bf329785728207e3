"""Norms, softmaxes and products with epilogues in many spellings, and what only looks like them.

Each entry is a function, its arguments, and what is to be found: the kind, and the number of rows.
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

B, T, D, F = 2, 6, 40, 56


def normal(*shape, dtype=jnp.float32, seed=0, scale=1.0, mean=0.0):
    """Made by NumPy: JAX would compile a program for each shape, while tests are collected."""
    drawn = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return jnp.asarray((mean + scale * drawn).astype(dtype))


X = normal(B, T, D)
NARROW = normal(B, T, D, dtype=jnp.bfloat16)
G, H = normal(D, seed=1, scale=0.1, mean=1.0), normal(D, seed=2)
W, U = normal(D, F, seed=3, scale=1 / 6), normal(D, F, seed=4, scale=1 / 6)
C, E = normal(F, seed=5), normal(F, seed=6)
BOTH = normal(D, 2 * F, seed=3, scale=1 / 6)

SPELLINGS = {}
LOOKALIKES = {}


def spelling(kind, *arguments, rows=B * T):
    return functools.partial(_add, SPELLINGS, (arguments, kind, rows))


def lookalike(*arguments):
    return functools.partial(_add, LOOKALIKES, (arguments,))


def _add(table, entry, function):
    table[function.__name__] = (function, *entry)
    return function


# ---- layer norm ----


@spelling("layer norm", X, G, H)
def by_variance(x, g, h):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + h


@spelling("layer norm", X, G, H)
def by_difference_of_squares(x, g, h):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(x**2, -1, keepdims=True) - mean**2
    return g * (x - mean) * jax.lax.rsqrt(jnp.maximum(variance, 0.0) + 1e-5) + h


@spelling("layer norm", X, G)
def by_sums_without_shift(x, g):
    centred = x - jnp.sum(x, axis=2, keepdims=True) / D
    return centred * (jnp.sum(centred * centred, axis=2, keepdims=True) / D + 1e-6) ** -0.5 * g


@spelling("layer norm", X)
def standardised(x):
    return jax.nn.standardize(x, axis=-1, epsilon=1e-5)


@spelling("layer norm", NARROW, G, H)
def in_float32_of_narrow_rows(x, g, h):
    wide = x.astype(jnp.float32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6) * g + h).astype(x.dtype)


@spelling("layer norm", X, G, H)
def vmapped_row_by_row(x, g, h):
    def row(r):
        return (r - r.mean()) / jnp.sqrt(r.var() + 1e-5) * g + h

    return jax.vmap(jax.vmap(row))(x)


@spelling("layer norm", X, G, H)
def after_a_residual_sum(x, g, h):
    x = x + jnp.sin(x)
    mean = x.mean(-1, keepdims=True)
    return x + (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + h


@spelling("layer norm", {"scale": G, "bias": H}, X)
def linen_layer_norm(params, x):
    return nn.LayerNorm().apply({"params": params}, x)


@spelling("layer norm", {"scale": G, "bias": H}, NARROW)
def linen_layer_norm_in_16_bits(params, x):
    return nn.LayerNorm(dtype=jnp.bfloat16).apply({"params": params}, x)


_nnx_norm = Later(lambda: nnx.split(nnx.LayerNorm(D, rngs=nnx.Rngs(0))))


@spelling("layer norm", Later(lambda: _nnx_norm()[1]), X)
def nnx_layer_norm(state, x):
    return nnx.merge(_nnx_norm()[0], state)(x)


_eqx_norm = Later(lambda: eqx.partition(eqx.nn.LayerNorm(D), eqx.is_inexact_array))


@spelling("layer norm", Later(lambda: _eqx_norm()[0]), X)
def equinox_layer_norm(parameters, x):
    return jax.vmap(jax.vmap(eqx.combine(parameters, _eqx_norm()[1])))(x)


_hk_norm = hk.without_apply_rng(hk.transform(lambda x: hk.LayerNorm(-1, True, True)(x)))


@spelling("layer norm", Later(lambda: _hk_norm.init(jax.random.key(0), X)), X)
def haiku_layer_norm(parameters, x):
    return _hk_norm.apply(parameters, x)


@spelling("layer norm", X, G, H)
def scanned(x, g, h):
    def step(carry, _):
        mean = carry.mean(-1, keepdims=True)
        return (carry - mean) / jnp.sqrt(carry.var(-1, keepdims=True) + 1e-5) * g + h, None

    return jax.lax.scan(step, x, None, length=2)[0]


@spelling("layer norm", X, G, H)
def checkpointed(x, g, h):
    return jax.checkpoint(by_variance)(x, g, h)


# ---- RMS norm ----


@spelling("RMS norm", X, G)
def by_mean_square(x, g):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6) * g


@spelling("RMS norm", NARROW, G)
def scaled_by_one_more(x, g):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide**2, -1, keepdims=True) + 1e-6) * (1 + g)).astype(x.dtype)


@spelling("RMS norm", X, G)
def divided_by_a_root(x, g):
    return g * (x / jnp.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5))


@spelling("RMS norm", {"scale": G}, X)
def linen_rms_norm(params, x):
    return nn.RMSNorm().apply({"params": params}, x)


@spelling("RMS norm", normal(B, T, 5, 8), normal(8), rows=B * T * 5)
def by_heads(x, g):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g


# ---- softmax ----


@spelling("softmax", X)
def by_jax(x):
    return jax.nn.softmax(x)


@spelling("softmax", X)
def by_hand(x):
    raised = jnp.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


@spelling("softmax", X)
def without_the_maximum(x):
    return jnp.exp(x) / jnp.exp(x).sum(axis=-1, keepdims=True)


@spelling("softmax", X)
def by_log_softmax(x):
    return jnp.exp(jax.nn.log_softmax(x, axis=-1))


@spelling("softmax", X)
def by_logsumexp(x):
    return jnp.exp(x - jax.nn.logsumexp(x, axis=2, keepdims=True))


@spelling("softmax", NARROW)
def in_float32(x):
    return jax.nn.softmax(x.astype(jnp.float32)).astype(x.dtype)


@spelling("softmax", X)
def vmapped(x):
    return jax.vmap(jax.vmap(jax.nn.softmax))(x)


# ---- gated units ----


@spelling("gated linear unit (silu)", X, W, U)
def swiglu(x, w, u):
    return jax.nn.silu(x @ w) * (x @ u)


@spelling("gated linear unit (silu)", X, W, U, C, E)
def swiglu_by_hand(x, w, u, c, e):
    gate = jnp.einsum("btd,df->btf", x, w) + c
    return (x @ u + e) * (gate / (1 + jnp.exp(-gate)))


@spelling("gated linear unit (gelu)", X, BOTH)
def geglu_of_one_product(x, w):
    gate, value = jnp.split(x @ w, 2, axis=-1)
    return jax.nn.gelu(gate) * value


@spelling("gated linear unit (sigmoid)", X, BOTH, normal(2 * F, seed=5))
def glu(x, w, c):
    return jax.nn.glu(x @ w + c)


@spelling("gated linear unit (identity)", X, W, U)
def bilinear(x, w, u):
    return (x @ w) * (x @ u)


class _LinenGlu(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.gelu(nn.Dense(F)(x), approximate=False) * nn.Dense(F)(x)


@spelling("gated linear unit (exact gelu)", Later(lambda: _LinenGlu().init(jax.random.key(0), X)), X)
def linen_geglu(variables, x):
    return _LinenGlu().apply(variables, x)


class _NnxGlu(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.gate, self.up = nnx.Linear(D, F, use_bias=False, rngs=rngs), nnx.Linear(D, F, rngs=rngs)

    def __call__(self, x):
        return nnx.swish(self.gate(x)) * self.up(x)


_nnx_glu = Later(lambda: nnx.split(_NnxGlu()))


@spelling("gated linear unit (silu)", Later(lambda: _nnx_glu()[1]), X)
def nnx_swiglu(state, x):
    return nnx.merge(_nnx_glu()[0], state)(x)


# ---- products with epilogues ----


@spelling("matmul with epilogue (gelu)", X, W, C)
def gelu_by_hand(x, w, c):
    h = x @ w + c
    return 0.5 * h * (1 + jnp.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))


@spelling("matmul with epilogue (relu)", X, W)
def relu_by_where(x, w):
    h = jnp.einsum("btd,df->btf", x, w)
    return jnp.where(h > 0, h, 0.0)


@spelling("matmul with epilogue (gelu)", {"kernel": W, "bias": C}, NARROW)
def linen_dense_in_16_bits(params, x):
    return nn.gelu(nn.Dense(F, dtype=jnp.bfloat16).apply({"params": params}, x))


_eqx_linear = Later(lambda: eqx.partition(eqx.nn.Linear(D, F, key=jax.random.key(0)), eqx.is_inexact_array))


@spelling("matmul with epilogue (silu)", Later(lambda: _eqx_linear()[0]), X)
def equinox_linear_vmapped(parameters, x):
    linear = eqx.combine(parameters, _eqx_linear()[1])
    return jax.vmap(jax.vmap(lambda row: jax.nn.silu(linear(row))))(x)


_hk_linear = hk.without_apply_rng(hk.transform(lambda x: jax.nn.sigmoid(hk.Linear(F)(x))))


@spelling("matmul with epilogue (sigmoid)", Later(lambda: _hk_linear.init(jax.random.key(0), X)), X)
def haiku_linear(parameters, x):
    return _hk_linear.apply(parameters, x)


@spelling("matmul with epilogue (squared relu)", X, W)
def squared_relu(x, w):
    return jax.nn.relu(x @ w) ** 2


# ---- what only looks like them ----


@lookalike(normal(7, D), G, H)
def batch_norm(x, g, h):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5) * g + h


@lookalike(X)
def unit_length(x):
    return x / jnp.sqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)


@lookalike(X, G)
def eps_beside_the_root(x, g):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-3) * g


@lookalike(X)
def unbiased_variance(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True, ddof=1) + 1e-5)


@lookalike(X, G)
def deviation_of_another_array(x, g):
    y = jnp.sin(x)
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5) * g


@lookalike(X)
def mean_over_two_axes(x):
    return (x - x.mean((1, 2), keepdims=True)) * jax.lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)


@lookalike(X, G)
def mean_of_magnitudes(x, g):
    return x / (jnp.mean(jnp.abs(x), -1, keepdims=True) + 1e-6) * g


@lookalike(X)
def softmax_over_time(x):
    return jax.nn.softmax(x, axis=1)


@lookalike(X)
def softmax_plus_one(x):
    raised = jnp.exp(x - x.max(-1, keepdims=True))
    return raised / (1.0 + raised.sum(-1, keepdims=True))


@lookalike(X)
def sum_of_other_exponentials(x):
    return jnp.exp(x) / jnp.exp(2.0 * x).sum(-1, keepdims=True)


@lookalike(X)
def normalised_sigmoids(x):
    gates = jax.nn.sigmoid(x)
    return gates / gates.sum(-1, keepdims=True)


@lookalike(X)
def exponentials_used_elsewhere(x):
    raised = jnp.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True), raised


@lookalike(X, W, C)
def affine_alone(x, w, c):
    return x @ w + c


@lookalike(X, W, C)
def other_activation(x, w, c):
    h = x @ w + c
    return h * jax.nn.sigmoid(1.3 * h)


@lookalike(X, W, normal(B, T, F))
def residual_inside(x, w, r):
    return jax.nn.gelu(x @ w + r)


@lookalike(X, W, C)
def product_used_elsewhere(x, w, c):
    h = x @ w + c
    return jax.nn.gelu(h), h


@lookalike(X, normal(B, T, D, seed=7), W, U)
def gate_of_other_rows(x, y, w, u):
    return jnp.sin(x @ w) * (y @ u)


@lookalike(X, W, U)
def gates_summed(x, w, u):
    return jnp.exp(x @ w) + x @ u


@lookalike(X, BOTH)
def interleaved_halves(x, w):
    h = x @ w
    return jnp.cos(h[..., ::2]) * h[..., 1::2]


@lookalike(normal(B, T, D), normal(B, D, F))
def a_table_for_each_batch_element(x, w):
    return jax.nn.gelu(jnp.einsum("btd,bdf->btf", x, w))
