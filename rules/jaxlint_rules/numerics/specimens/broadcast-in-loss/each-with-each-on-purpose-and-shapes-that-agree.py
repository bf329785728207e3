# each with each on purpose, and shapes that agree

import jax
import jax.numpy as jnp

def pairwise(t):
    return jnp.mean((t[:, None] - t) ** 2)

def loss_fn(w, x, y):
    return jnp.mean(((x @ w).squeeze(-1) - y) ** 2)

def loss_of_columns(w, x, y):
    return jnp.mean((x @ w - y[:, None]) ** 2)

def centred(x):
    return jnp.abs(x - x.mean(axis=1, keepdims=True)).sum()

x = jax.random.normal(jax.random.key(0), (256, 13))
loss_fn(jnp.zeros((13, 1)), x, jnp.ones((256,)))
loss_of_columns(jnp.zeros((13, 1)), x, jnp.ones((256,)))
pairwise(jnp.ones(256))
centred(x)
