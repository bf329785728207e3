# shapes are no values

import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    jax.debug.print(f"sum {{}} of {x.shape} in {{{{s}}}}", jnp.sum(x))
    return x
