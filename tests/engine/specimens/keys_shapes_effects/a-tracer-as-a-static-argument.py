# a tracer as a static argument
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def inner(x, n):
    return jnp.zeros(n) + x

@jax.jit
def outer(x, n):
    return inner(x, n)  # finding: tracer-as-static

outer(1.0, 3)
