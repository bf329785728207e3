# by einsum, by matrix products, with a mask

import jax
import jax.numpy as jnp

def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)  # finding

def masked(q, k, v, mask):
    scores = jnp.where(mask, jnp.matmul(q, k.T) * 0.125, -1e9)
    weights = jax.nn.softmax(scores)
    return jnp.matmul(weights, v)  # finding
