# turned on

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

def table(n):
    return jnp.linspace(0.0, 1.0, n, dtype=jnp.float64)
