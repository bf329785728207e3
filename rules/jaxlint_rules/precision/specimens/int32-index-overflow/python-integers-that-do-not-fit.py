# Python integers that do not fit

import time

import jax
import jax.numpy as jnp
import numpy as np

PRIMES = (1, 2654435761, 805459861)
MISSING = 1 << 40

@jax.jit
def hashed(cells, size):
    h = cells[..., 0] ^ (cells[..., 1] * PRIMES[1])  # finding
    return h % size

@jax.jit
def known(ids):
    return ids != MISSING  # finding

@jax.jit
def low_word(x):
    return x & 0xFFFFFFFF  # finding

@jax.jit
def advance(state, now):
    return state + now

stamp = jnp.asarray(1_700_000_000_000)  # finding
stamps = jnp.array([0, 2**35])  # finding
bound = jnp.full((4,), 2**31)  # finding
scaled = jnp.ones(3) * 2**40  # finding
moved = advance(jnp.zeros(3), 2**35)  # finding
valid = known(jnp.arange(3))
later = advance(jnp.zeros(3), time.time_ns())  # finding
reached = jnp.ones(3) < np.iinfo(np.int64).max  # finding
