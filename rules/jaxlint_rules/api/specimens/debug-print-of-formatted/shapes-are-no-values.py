# shapes are no values

import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    jax.debug.print(f"sum {jnp.sum(x)} of {x.shape} in {{s}}")  # finding
    return x
