# a traced mask as an index
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    return x[x > 0]  # finding: dynamic-shape

f(jnp.ones(3))
