# logarithm and exponential

import jax.numpy as jnp

def rate(x):
    y = jnp.exp(x) - 1  # finding
    return jnp.log(1 + x) + jnp.log(1.0 - y)  # finding
