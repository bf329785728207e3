# a wrapper takes what it takes, and mapped numbers are arrays

import functools
import jax
import jax.numpy as jnp
from jax import lax

def wrapped(f, *more):
    @functools.wraps(f)
    def body(carry, x):
        return f(carry, x, *more)

    return jax.checkpoint(body, prevent_cse=False)

def too_many(f):
    @functools.wraps(f)
    def body(carry, x, y):
        return f(carry, x, y)

    return body

def step(carry, x, scale):
    return carry + x * scale, None

def run(xs, scale):
    good = lax.scan(wrapped(step, scale), 0.0, xs)
    return good, lax.scan(too_many(step), 0.0, xs)  # finding

def reset(x):
    return x, 0

@jax.jit
def play(xs):
    x, reward = jax.vmap(reset)(xs)
    return lax.scan(lambda c, row: (c + row[0] + row[1], None), 0.0, (x, reward))

@jax.jit
def play_one(xs):
    x, reward = reset(xs)
    return lax.scan(lambda c, row: (c + row[0] + row[1], None), 0.0, (x, reward))  # finding
