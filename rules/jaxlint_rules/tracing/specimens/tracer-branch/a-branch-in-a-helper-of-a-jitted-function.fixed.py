# a branch in a helper of a jitted function

import jax
import jax.numpy as jnp

def clip(x, limit):
    return jax.lax.cond(jnp.max(x) > limit, lambda: x / jnp.max(x), lambda: x)

@jax.jit
def step(x):
    return clip(x, 1.0) * 2
