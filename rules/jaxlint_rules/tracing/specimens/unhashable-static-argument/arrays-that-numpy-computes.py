# arrays that NumPy computes, and its scalars

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

@partial(jax.jit, static_argnames="kernel")
def smooth(signal, kernel):
    return signal * kernel

def gaussian(radius, sigma):
    x = np.arange(-radius, radius + 1)
    k = np.exp(-0.5 * (x / sigma) ** 2)
    return k / k.sum()

def pipeline(signal):
    window = gaussian(4, 1.5)
    total = window.sum()
    a = smooth(signal, kernel=window)  # finding
    b = smooth(signal, kernel=window[1:])  # finding
    return a, b, smooth(signal, kernel=total), smooth(signal, kernel=window[2])

pipeline(jnp.ones(9))
