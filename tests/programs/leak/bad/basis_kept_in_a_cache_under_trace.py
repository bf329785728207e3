# blind: every clause

import functools

import jax
import jax.numpy as jnp

_cache = {}


def basis(n, scale):
    if n not in _cache:
        _cache[n] = jnp.arange(n) * scale  # finding
    return _cache[n]


@jax.jit
def embed(x, scale):
    return x + basis(x.shape[0], scale)


embed(jnp.ones(3), 2.0)
print(jax.jit(lambda x: x * basis(3, 1.0))(jnp.ones(3)))
