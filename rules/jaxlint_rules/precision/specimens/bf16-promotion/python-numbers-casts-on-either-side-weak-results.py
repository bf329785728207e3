# Python numbers, casts on either side, weak results, parameters

import math
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def attend(q, k, mask, bias):
    q, k = q.astype(jnp.bfloat16), k.astype(jnp.bfloat16)
    scores = q @ k.T / math.sqrt(64.0) * 2.0 + jnp.sqrt(2.0)
    scores = jnp.where(mask, scores, -1e9) + bias
    table = jnp.sin(jnp.arange(8.0)).astype(scores.dtype)
    counts = scores * np.arange(8)
    return scores + table, counts

@jax.jit
def loss(logits, labels):
    logits = logits.astype(jnp.bfloat16)
    wide = logits.astype(jnp.float32) - jnp.ones(8)
    return jnp.mean(wide * labels)

@jax.jit
def normalise(x):
    x = x.astype(jnp.bfloat16)
    y = x * np.float32(0.5)
    return y.astype(jnp.bfloat16)
