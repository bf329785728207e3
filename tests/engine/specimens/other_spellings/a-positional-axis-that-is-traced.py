# a positional axis that is traced
import jax
import jax.numpy as jnp

@jax.jit
def f(x, axis):
    return x.sum(0) + x.mean(axis)  # finding: dynamic-shape

f(jnp.ones((2, 2)), 0)
