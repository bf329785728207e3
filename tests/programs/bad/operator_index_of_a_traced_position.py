import operator

import jax
import jax.numpy as jnp


@jax.jit
def f(x, i):
    return x[operator.index(i)]


print(f(jnp.ones(2), 1))
