# functions that write into a NumPy array, and into an array of JAX, of which array-item-assignment speaks

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def counts(i):
    host = np.zeros(3)
    np.add.at(host, i, 1.0)  # finding
    np.copyto(host, i)  # finding
    mine = jnp.zeros(3)
    np.add.at(mine, i, 1.0)
    np.multiply(mine, 2.0, out=mine)
    return host + np.multiply(mine, 2.0, out=host)  # finding
