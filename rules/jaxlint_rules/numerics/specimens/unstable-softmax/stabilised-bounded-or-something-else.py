# stabilised, bounded, or something else

import jax
import jax.numpy as jnp

def stable(x):
    e = jnp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def kernel(d2):
    w = jnp.exp(-d2)
    return w / w.sum()

def normalised(x, y):
    return jnp.abs(x) / jnp.abs(x).sum() + jnp.exp(x) / jnp.exp(y).sum() + jax.nn.softmax(x)
