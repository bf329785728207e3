# what a context manager of the project yields
import contextlib

import jax
import jax.numpy as jnp

@contextlib.contextmanager
def masked(x):
    yield x > 0, x.shape[0]

@jax.jit
def clipped(x):
    with masked(x) as (mask, size):
        if size > 3:
            x = x[:3]
        if mask.any():  # finding: tracer-branch
            x = -x
    return x

clipped(jnp.ones(4))
