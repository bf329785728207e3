# Python integers that fit, go to a float dtype or stay Python's

import functools
import jax
import jax.numpy as jnp
import numpy as np

SEED = 2**40

@jax.jit
def hashed(cells):
    cells = cells.astype(jnp.uint32)
    return cells[:, 0] * jnp.uint32(2654435761) ^ cells[:, 1] * jnp.uint32(805459861)

@functools.partial(jax.jit, static_argnames="size")
def sized(x, size):
    return x * (size / 2**40)

def offsets(rows):
    return np.asarray(rows, dtype=np.int64) * 2**35

def settings(x):
    key = jax.random.key(SEED)
    last = jnp.full((3,), 2**31 - 1)
    wide = jnp.asarray(2**40, dtype=jnp.float32)
    total = jnp.array([1.7e12]) + 2.0**40
    host = 2**40 // x.shape[0]
    return key, last, wide, total, host, sized(x, 2**35)

def ends(x):
    return x < np.iinfo(np.int32).max, jnp.where(x > 0, x, jnp.iinfo(jnp.int32).min)

def caught(x):
    try:
        return x + jnp.asarray(2**40)
    except OverflowError:
        return x
