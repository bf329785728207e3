# numbers that lie in an array, are bound anew or come through vmap

import jax
import jax.numpy as jnp

@jax.jit
def head(x, lengths):
    return jnp.zeros(lengths[0]), jnp.ones(lengths.max())  # finding

@jax.jit
def grown(x, n):
    n = n + 1
    return jnp.zeros(n)  # finding

rows = jax.jit(jax.vmap(lambda x, n: x + jnp.zeros(n)))  # finding
