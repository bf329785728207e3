# at, and what may be assigned to
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def clear(x):
    table = np.zeros(3)
    table[0] = 1
    rows = [x, x]
    rows[0] = x.at[0].set(0)
    rows[1] += 1
    scaled = {}
    scaled["x"] = x.at[jnp.array([0])].multiply(2)
    return rows[0] + table + scaled["x"]

clear(jnp.ones(3))
