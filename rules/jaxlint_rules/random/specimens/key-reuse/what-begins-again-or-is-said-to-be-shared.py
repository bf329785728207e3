# what begins again from the same state, and keys that are said to be used for all

import jax
import jax.numpy as jnp


def reset(key):
    return jax.random.normal(key, (3,))


def compare(key, steps):
    state = reset(key)
    for step in steps:
        state = step(state)
    first = state
    state = reset(key)
    return first, state


def other(key, steps):
    state = reset(key)
    noise = reset(key)  # finding
    return state, noise


def windows(rng_key, data):
    """Scores each window.

    rng_key: the key, used for every window
    """
    return [jax.random.choice(rng_key, window, (3,)) + window.mean() for window in data]


def chain(key):
    a = jax.random.normal(key)
    _, key = jax.random.split(key)  # finding
    b = jax.random.normal(key)
    _, key = jax.random.split(key)
    return a, b, jax.random.normal(key)


def descend(loss, params, keys):
    slope = jax.jit(jax.jacrev(loss.value))
    for key in keys:
        g = slope(params, key)
        print(loss.value(params, key))
        params = params - g
    return params
