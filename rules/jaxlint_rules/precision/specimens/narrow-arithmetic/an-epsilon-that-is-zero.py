# an epsilon that is zero

import jax
import jax.numpy as jnp

def rms_norm(x, eps=1e-8):
    variance = jnp.mean(x * x, axis=-1, keepdims=True)
    return x / jnp.sqrt(variance + eps)  # finding

def bounded(x):
    return 1.0 / jnp.maximum(x, 1e-12)  # finding

@jax.jit
def forward(x):
    x = x.astype(jnp.float16)
    return rms_norm(x) + bounded(x)
