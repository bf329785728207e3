# exact functions, other numbers

import jax.numpy as jnp

def rate(x):
    return jnp.log1p(x) + jnp.expm1(x) + jnp.log(2 + x) + jnp.exp(x) - x

def count(x):
    n = jnp.arange(5)
    return jnp.log(1 + n) * x
