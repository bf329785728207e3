# a starred argument after the donated one
import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(params, x, y):
    return params - 0.1 * jax.grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)


def fit(params, batch):
    best = params
    for _ in range(10):
        params = step(params, *batch)
    return best, params  # finding


def copied(params, batch):
    best = params.copy()
    for _ in range(10):
        params = step(params, *batch)
    return best, params


def starred(state, other, batch):
    out = step(*state, *batch)
    return out, state, other


x = jnp.ones((4, 3))
fit(jnp.zeros(3), (x, jnp.zeros(4)))
