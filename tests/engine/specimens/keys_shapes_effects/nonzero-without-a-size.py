# nonzero without a size
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    (rows,) = jnp.nonzero(x)  # finding: dynamic-shape
    return rows

f(jnp.ones(3))
