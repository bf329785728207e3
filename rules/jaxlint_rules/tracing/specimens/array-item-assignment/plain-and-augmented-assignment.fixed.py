# plain and augmented assignment

import jax.numpy as jnp

def f(gain):
    v = jnp.zeros(8)
    v = v.at[0].set(1.0)  # finding
    v = v.at[2:4].add(gain)  # finding
    return v
