# arrays cannot be assigned to
import jax
import jax.numpy as jnp

@jax.jit
def clear(x):
    x[0] = 0  # finding: array-item-assignment
    return x

clear(jnp.ones(3))
