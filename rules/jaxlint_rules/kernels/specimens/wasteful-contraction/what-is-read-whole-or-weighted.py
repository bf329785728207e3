# a product that is read elsewhere, sums that are no products of matrices

import jax
import jax.numpy as jnp


@jax.jit
def kept(a, b):
    product = a @ b
    return product, jnp.trace(product), jnp.trace(a), jnp.trace(a, 1)


@jax.jit
def distances(a, b, w):
    return jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, -1), jnp.sum(w * jnp.abs(a[:, None] - b[None]), -1)


@jax.jit
def sums(a, b):
    outer = (a[:, None] * b[None, :]).sum(0)
    weighted = (a[:, None] * b).sum(-1)
    return outer, weighted, (a[:, None, :] * b[None, :, :]).sum()
