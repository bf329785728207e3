# in a loop, and between jitted functions

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def encode(w, x):
    return jnp.tanh(x @ w)

@jax.jit
def decode(w, h):
    return h @ w.T

def iterate(w, steps):
    x = jnp.ones(8)
    for _ in range(steps):
        h = np.exp(x)  # finding
        x = jnp.dot(w, h)
    return x

def pipeline(w, x):
    h = encode(w, x)
    h = np.clip(h, 0.0, 1.0)  # finding
    return decode(w, h)
