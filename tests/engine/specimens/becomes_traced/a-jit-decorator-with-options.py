# a jit decorator with options
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("mode",))
def f(x, mode):
    if mode == "double":
        x = x * 2
    if x[0] > 0:  # finding: tracer-branch
        x = -x
    return x

f(jnp.ones(2), "double")
