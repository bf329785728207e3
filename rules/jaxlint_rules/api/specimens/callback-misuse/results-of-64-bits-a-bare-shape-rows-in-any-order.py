# results of 64 bits, a bare shape, rows in any order

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

rows = []

def keep(i, x):
    rows.append((int(i), np.asarray(x)))

@jax.jit
def simulate(x, table):
    x = x + jax.pure_callback(np.cos, x.shape, x)  # finding
    x = x + jax.pure_callback(np.cos, (x.shape[0], table.width), x)  # finding
    wide = jax.ShapeDtypeStruct(x.shape, jnp.float64)
    x = x + jax.pure_callback(np.sin, wide, x)  # finding

    def step(i, x):
        io_callback(keep, None, i, x)  # finding
        return x * 0.5

    return jax.lax.fori_loop(0, 4, step, x)
