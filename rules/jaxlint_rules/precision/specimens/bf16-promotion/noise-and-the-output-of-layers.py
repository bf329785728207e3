# noise, and the output of layers

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def noisy(x, key):
    x = x.astype(jnp.bfloat16)
    return x + 0.1 * jax.random.normal(key, x.shape)  # finding

@jax.jit
def in_kind(x, key):
    x = x.astype(jnp.bfloat16)
    wide = x.astype(jnp.float32) + jax.random.normal(key, x.shape)
    mask = jax.random.bernoulli(key, 0.9, x.shape)
    return x * mask + jax.random.uniform(key, x.shape, x.dtype) + jax.random.normal(key, x.shape, dtype=jnp.bfloat16), wide

class Scores(nn.Module):
    head_dim: int

    @nn.compact
    def __call__(self, x):
        q = nn.Dense(self.head_dim, dtype=jnp.bfloat16)(x)
        wide = nn.Dense(self.head_dim, dtype=jnp.float32)(q) / np.sqrt(self.head_dim)
        return q / np.sqrt(self.head_dim), wide, q * self.head_dim**-0.5  # finding

class Heads(nn.Module):
    @nn.compact
    def __call__(self, x):
        q, k = jnp.split(nn.Dense(64, dtype=jnp.bfloat16)(x), 2, axis=-1)
        scores = jnp.einsum("btd,bsd->bts", q, k)
        return scores / np.sqrt(32), scores * 32**-0.5  # finding
