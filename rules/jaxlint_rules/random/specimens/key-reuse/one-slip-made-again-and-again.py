# one slip that is made again and again is told once; branches that are never taken, and what is not used

import jax


def advance(key):
    key, _ = jax.random.split(key)
    return key


def two_draws(key):
    a = jax.random.normal(key)
    key = advance(key)  # finding
    b = jax.random.normal(key)
    key = advance(key)
    return a + b, key


def another(key):
    a = jax.random.normal(key)
    key = advance(key)
    return a, key


def checked_and_measured(key, f):
    keys = jax.random.split(key, 3)
    a = jax.random.normal(keys[0])
    b = jax.random.normal(keys[1])
    print(f(a, b))
    c = jax.random.normal(keys[0])  # finding
    d = jax.random.normal(keys[1])
    return f(c, d)


def seen(action, key):
    return jax.lax.cond(action > 4, jax.random.normal, lambda k: 0.0, key)


@jax.jit
def reset(key):
    return jax.random.normal(key) + seen(0, key)


@jax.jit
def act(key):
    return jax.random.normal(key) + seen(7, key)  # finding


def train(key, step, state, n):
    first = jax.random.split(key)
    step(state, first)  # compiles
    keys = jax.random.split(key, n)
    for i in range(n):
        state = step(state, keys[i])
    return state


class Net:
    def __init__(self, kind, key):
        self.w = kind(key)


def of_several_kinds(kinds, key):
    return {name: Net(kind, key) for name, kind in kinds.items()}


def attention(scores, mode, rate, key):
    if rate > 0.0 and mode == "keys":
        scores = scores * jax.random.bernoulli(key, rate, scores.shape)
    if rate > 0.0 and mode == "weights":
        scores = scores + jax.random.bernoulli(key, rate, scores.shape)
    return scores
