# a quantity with a fallback, which is no flag

import jax
import jax.numpy as jnp

@jax.jit
def scaled(x, rate, limit=None):
    rate = rate or 1e-3  # finding
    limit = limit or 1.0
    return jnp.minimum(rate * x, limit)

print(scaled(jnp.ones(3), 0.1))
