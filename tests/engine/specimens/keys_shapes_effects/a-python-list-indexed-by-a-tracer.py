# a Python list indexed by a tracer
import jax
import jax.numpy as jnp

weights = [0.1, 0.2]

@jax.jit
def f(i, x):
    return x * weights[i]  # finding: tracer-index

f(0, jnp.ones(3))
