# state that stays weak, is strong from the start, or is not known to change

import functools
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(params, count, running, x):
    return params - 0.1 * x.mean(0), count + 1, running * 0.9 + 0.1 * jnp.mean(x)

def train(batches, params):
    count, running = 0, jnp.zeros(())
    for x in batches:
        params, count, running = step(params, count, running, x)
    return params, count

@jax.jit
def decay(rate, factor):
    return rate * factor

def schedule(n, factor):
    rate = 0.1
    for _ in range(n):
        rate = decay(rate, factor)
    return rate

@jax.jit
def shift(x, by):
    return x + by

def host_data(n, offsets):
    x = np.zeros(3)  # float32 to jit
    ids = np.arange(3)
    total = 0.0
    for offset in offsets:
        x = shift(x, 1)
        ids = shift(ids, 1)
        total = shift(total, offset)  # whatever that is
    return x, ids, total

@functools.partial(jax.jit, static_argnames="depth")
def deepen(depth, x):
    return x + jnp.float32(depth)

def deep(x):
    for depth in range(3):
        x = deepen(depth, x)
    return x

@jax.jit
def seen(flag, x):
    return flag | jnp.any(x > 0)

def any_of(batches):
    flag = False
    for x in batches:
        flag = seen(flag, x)
    return flag

@jax.jit
def loss_of(x):
    return jnp.mean(x)

def total_of(batches):
    total = 0.0
    for x in batches:
        total = total + loss_of(x)
    return total

@jax.jit
def add(total, x):
    return total + jnp.mean(x)

def read_back(batches):
    total = 0.0
    for x in batches:
        total = float(add(total, x))
    return total
