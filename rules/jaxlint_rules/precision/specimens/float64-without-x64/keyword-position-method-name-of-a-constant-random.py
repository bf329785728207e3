# keyword, position, method, name of a constant, random numbers

import jax
import jax.numpy as jnp
import numpy as np

DTYPE = jnp.float64

def table(n):
    return jnp.linspace(0.0, 1.0, n, dtype=np.float64)  # finding

def draw(key, n):
    return jax.random.uniform(key, (n,), DTYPE)  # finding

@jax.jit
def refine(x):
    y = x.astype("float64")  # finding
    n = x.astype(jnp.int64) * 1_000_003  # finding
    return y + n + jnp.zeros(x.shape, jnp.float64) + jnp.float64(0.1)
