# NumPy scalars and tables of constants

import jax
import jax.numpy as jnp
import numpy as np

SCALE = np.sqrt(64.0)

@jax.jit
def attend(q, k):
    q, k = q.astype(jnp.bfloat16), k.astype(jnp.bfloat16)
    return jax.nn.softmax(q @ k.T / SCALE)  # finding

def positions(length, dim):
    angle = jnp.arange(length, dtype=jnp.float32)[:, None] / jnp.arange(1, dim + 1)
    return jnp.sin(angle)

@jax.jit
def embed(table, tokens):
    x = table.astype("bfloat16")[tokens]
    return x + positions(tokens.shape[0], 16)  # finding

def bias():
    x = jnp.ones((4, 4), dtype=jnp.float16)
    return x * np.float32(0.5) - np.linspace(0, 1, 4)  # finding
