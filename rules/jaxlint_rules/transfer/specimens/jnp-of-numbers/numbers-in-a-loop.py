# schedules of Python numbers, in a loop and in a function that it calls

import math

import jax
import jax.numpy as jnp


def cosine(step, total, peak):
    warm = min(step / 100, 1.0)
    return float(peak * warm * 0.5 * (1 + jnp.cos(math.pi * step / total)))  # finding


@jax.jit
def update(params, grads, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def train(params, grads, steps):
    for step in range(steps):
        params = update(params, grads, cosine(step, steps, 1e-3))
        beta = jnp.exp(-step / steps).item()  # finding
        params = update(params, grads, beta)
    return params


train(jnp.ones(3), jnp.ones(3), 1000)
