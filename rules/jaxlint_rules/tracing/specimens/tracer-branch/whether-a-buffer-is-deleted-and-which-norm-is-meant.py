# whether a buffer is deleted, and which norm is meant, Python knows

import jax
import jax.numpy as jnp

table = jnp.arange(3)

def norm(x, p=float("inf")):
    if p == float("inf"):
        return jnp.max(x)
    if jnp.all(x == 0):  # finding
        return x[0]
    return jnp.sum(x)

@jax.jit
def kept(x):
    if table.is_deleted():
        return x
    return norm(x, p=1)

@jax.jit
def largest(x):
    return least(x, jnp.inf) + table[0]

def least(x, p):
    if p == float("inf"):
        return jnp.max(x)
    if jnp.all(x == 0):
        return x[0]
    return jnp.sum(x)
