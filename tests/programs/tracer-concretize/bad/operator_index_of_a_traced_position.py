# blind: every clause

import operator

import jax
import jax.numpy as jnp


@jax.jit
def f(x, i):
    return x[operator.index(i)]  # finding


print(f(jnp.ones(2), 1))
