# a slice with a traced bound
import jax
import jax.numpy as jnp

@jax.jit
def f(n, x):
    return x[:n].sum()  # finding: tracer-index

f(2, jnp.ones(3))
