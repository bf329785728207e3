# range over a tracer
import jax
import jax.numpy as jnp

@jax.jit
def f(n, x):
    for _ in range(n):  # finding: tracer-index
        x = x + 1
    return x

f(2, jnp.ones(3))
