# the limits of another dtype

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def masked(scores, mask):
    scores = scores.astype(jnp.bfloat16)
    return jnp.where(mask, scores, jnp.finfo(jnp.float32).min)  # finding

@jax.jit
def divided(x):
    x = x.astype(jnp.float16)
    return x / (jnp.abs(x) + np.finfo(np.float32).eps)  # finding

@jax.jit
def in_its_own(scores, mask):
    scores = scores.astype(jnp.bfloat16)
    scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    return jnp.where(mask, scores, jnp.finfo(jnp.bfloat16).min) + float(np.finfo(np.float32).eps)
