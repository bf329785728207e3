# what can be indexed as an array

import jax
import jax.numpy as jnp

SCALES = [1.0, 2.0, 4.0]

@jax.jit
def window(x, i):
    part = x[i:i + 3]  # finding
    return part * SCALES[i]  # finding
