# data from outside of the loop

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, x):
    return w - 0.1 * x.T @ (x @ w)

def train(w, rows):
    features = np.array(rows)
    for _ in range(100):
        w = step(w, jax.device_put(features))  # finding
    for _ in range(100):
        batch = jnp.asarray(features)  # finding
        w = step(w, batch)
    for _ in range(100):
        w = step(w, features)  # finding
    while w.sum() > 0:
        w = step(w, jnp.array(features, dtype=jnp.float32))  # finding
    return w
