# `x.reshape(*x.shape[:-1], heads, size)` splits an axis; the product that follows does not fit, or does
import jax
import jax.numpy as jnp


def split_heads(x, heads):
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)


@jax.jit
def forgotten(x):
    q = split_heads(x @ jnp.ones((64, 64)), 4)
    return q @ jnp.ones((64, 64))  # finding


@jax.jit
def merged(x):
    q = split_heads(x @ jnp.ones((64, 64)), 4)
    return q.reshape(*x.shape) @ jnp.ones((64, 64)) + q.reshape(*q.shape[:2], -1) @ jnp.ones((64, 1))


@jax.jit
def unknown(x, sizes):
    return x.reshape(*sizes, 4) @ jnp.ones((4, 2))


forgotten(jnp.ones((2, 16, 64)))
print(merged(jnp.ones((2, 16, 64))), unknown(jnp.ones((2, 8)), (2, 2)))
