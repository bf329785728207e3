# handed to functions of arrays, compared, negated; a reference too many or too few

import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def softmax(x_ref, o_ref):
    m = jnp.max(x_ref, axis=-1, keepdims=True)  # finding
    e = jax.nn.relu(x_ref)  # finding
    o_ref[...] = jnp.exp(x_ref[...] - m) * x_ref.sum() * -x_ref + e  # finding

def masked(x_ref, o_ref):
    o_ref[...] = jnp.where(x_ref[...] > 0, jnp.zeros_like(o_ref), (x_ref > 0).astype(float))  # finding

def scaled(x_ref, o_ref, *, scale):
    x = x_ref[...]
    o_ref[...] = jnp.exp(x) * scale * jnp.ones(o_ref.shape)

def short(x, o):
    x = x[...]
    o[...] = jnp.max(x) + x

def call(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = pl.pallas_call(softmax, out_shape=out)(x)
    b = pl.pallas_call(masked, out_shape=out)(x)
    return a + b + pl.pallas_call(short, out_shape=out)(x)

def count(n):
    x = jnp.ones(n)
    out = jax.ShapeDtypeStruct((8,), jnp.float32)
    a = pl.pallas_call(softmax, out_shape=out)(x, x)  # finding
    b = pl.pallas_call(softmax, out_shape=[out, out])(x)  # finding
    c = pl.pallas_call(functools.partial(scaled, scale=2.0), out_shape=out)(x)
    d = pl.pallas_call(functools.partial(scaled, scale=2.0), out_shape=out, grid=(4,))(x, x)  # finding
    return a, b, c, d
