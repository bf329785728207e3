# logarithm and exponential

import jax.numpy as jnp

def rate(x):
    y = jnp.expm1(x)
    return jnp.log(1 + x) + jnp.log1p(-y)
