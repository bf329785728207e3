# blind: every clause

import jax
import jax.numpy as jnp


@jax.jit
def reduce(x, flag):
    return jax.lax.cond(flag, lambda v: v.sum(axis=0), lambda v: v, x)  # finding


print(reduce(jnp.ones((2, 2)), True))
