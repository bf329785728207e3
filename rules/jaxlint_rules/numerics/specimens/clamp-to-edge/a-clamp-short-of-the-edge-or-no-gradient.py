# a clamp short of the edge, or no gradient

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def distance(a, b):
    return jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(a - b), axis=-1), 1e-12))

def angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -0.999, 0.999)) + jnp.log(jax.nn.relu(a[0]) + 1e-6)

def loss(a, b):
    return jnp.sum(distance(a, b)) + angle(a, b)

grad = jax.grad(loss)

def metric(x):
    x = jnp.asarray(x)
    return jnp.sqrt(jnp.maximum(x, 0.0)), jnp.arccos(jnp.clip(x, -1.0, 1.0))


def kernel(x_ref, o_ref):
    o_ref[...] = jnp.sqrt(jnp.maximum(x_ref[...], 0.0))


def through_a_kernel(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x).sum()


def roots(x, fast):
    return through_a_kernel(x) if fast else jnp.sum(jnp.sqrt(jnp.maximum(x, 1e-6)))


def gradient(x, fast=False):
    return jax.grad(roots)(x, fast)
