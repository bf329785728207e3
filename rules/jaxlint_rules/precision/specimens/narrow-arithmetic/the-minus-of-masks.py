# the minus of masks

import jax
import jax.numpy as jnp

@jax.jit
def split(x, lengths):
    mask = jnp.arange(x.shape[-1]) < lengths
    dropped = jnp.where(-mask, x, 0.0)  # finding
    edges = mask - (x > 0)  # finding
    return dropped, edges, jnp.where(~mask, x, 0.0), 1 - mask, mask.astype(int) - 1, mask ^ (x > 0)

@jax.jit
def signs(x):
    return -(x > 0).astype(x.dtype) - jnp.isfinite(x).sum()
