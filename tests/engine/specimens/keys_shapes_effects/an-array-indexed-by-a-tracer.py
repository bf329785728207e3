# an array indexed by a tracer
import jax
import jax.numpy as jnp

table = jnp.array([0.1, 0.2])

@jax.jit
def f(i, x):
    return x * table[i] + x[i] + jnp.asarray([1.0, 2.0])[i]

f(0, jnp.ones(3))
