# plain and augmented assignment

import jax.numpy as jnp

def f(gain):
    v = jnp.zeros(8)
    v[0] = 1.0  # finding
    v[2:4] += gain  # finding
    return v
