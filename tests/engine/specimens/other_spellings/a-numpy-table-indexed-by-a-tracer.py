# a NumPy table indexed by a tracer
import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.array([1, 0])

@jax.jit
def f(x, i):
    x = x + TABLE[0] + jnp.asarray(TABLE)[i]
    return x[TABLE[i]]  # finding: tracer-to-numpy

f(jnp.ones(2), 1)
