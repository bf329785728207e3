# an epsilon that is none, in wider types, or of another kind

import jax
import jax.numpy as jnp

def rms_norm(x, eps=1e-8):
    wide = x.astype(jnp.float32)
    return (wide / jnp.sqrt(jnp.mean(wide * wide) + eps)).astype(x.dtype)

@jax.jit
def forward(x):
    x = x.astype(jnp.float16)
    y = x.astype(jnp.bfloat16) + 1e-8
    return rms_norm(x) + (x + 1e-4) * 1e-9 + 0.0 + y

def added(x, rate):
    return x.astype(jnp.float16) + rate, jnp.zeros(3) + 1e-8
