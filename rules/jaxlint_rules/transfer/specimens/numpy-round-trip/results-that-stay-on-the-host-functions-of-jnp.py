# results that stay on the host, functions of jnp, conversions, methods that NumPy calls, set-up

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def encode(w, x):
    return jnp.tanh(x @ w)

def iterate(w, steps, data):
    x = jnp.ones(8)
    shown = []
    for _ in range(steps):
        x = jnp.dot(w, jnp.exp(x))
        shown.append(np.log10(x))
        y = jnp.dot(w, np.exp(data))
        z = jnp.dot(w, np.mean(x))
    return x, shown, y, z

def setup(w):
    table = jnp.linspace(0.0, 1.0, 8)
    scale = np.sqrt(table)
    return jnp.dot(w, scale)

def explicit(w, x):
    h = np.asarray(encode(w, x))
    return encode(w, h)
