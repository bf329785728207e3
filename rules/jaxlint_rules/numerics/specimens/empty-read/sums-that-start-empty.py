# arithmetic on arrays that were never written

import jax
import jax.numpy as jnp


@jax.jit
def accumulate(xs):
    total = jnp.empty((4,))
    for i in range(3):
        total = total + xs[i]  # finding
    return total


def mean_of(x):
    buffer = jnp.empty_like(x)
    return jnp.mean(buffer)  # finding
