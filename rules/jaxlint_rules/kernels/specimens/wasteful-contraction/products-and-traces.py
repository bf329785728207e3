# traces of products, and products by broadcasting

import jax
import jax.numpy as jnp


@jax.jit
def divergence(mean, first, second):
    precision = jnp.linalg.inv(second)
    return jnp.trace(precision @ first) + mean @ precision @ mean  # finding


def overlap(n):
    a = jnp.eye(n)
    first = jnp.trace(jnp.matmul(a, a))  # finding
    return first, (a @ a).trace()  # finding


@jax.jit
def scores(q, d):
    return (q[:, None, :] * d[None, :, :]).sum(axis=-1)  # finding


def by_batch(q, d):
    q, d = jnp.asarray(q), jnp.asarray(d)
    return jnp.sum(q[:, :, None, :] * d[:, None, :, :], axis=3)  # finding
