# tiled, stacked and broadcast weights

import jax
import jax.numpy as jnp

def predict(w, x):
    return jnp.tanh(x @ w)

def batched(w, xs):
    n = xs.shape[0]
    a = jax.vmap(predict)(jnp.tile(w[None], (n, 1, 1)), xs)  # finding
    b = jax.vmap(predict)(jnp.stack([w] * n), xs)  # finding
    ws = jnp.broadcast_to(w, (n, *w.shape))
    return a + b + jax.vmap(predict)(ws, xs)  # finding
