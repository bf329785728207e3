# booleans, bits, numbers of any size, and masks that are cast after they were inverted
import jax
import jax.numpy as jnp


@jax.jit
def masked(scores, tokens):
    mask = tokens != 0
    return jnp.where(~mask, -1e9, scores) * (~mask).astype(jnp.int32)


@jax.jit
def cast_back(scores, tokens):
    mask = (tokens != 0).astype(jnp.int32)
    return jnp.where(~mask.astype(bool), -1e9, scores) + jnp.where(1 - mask, 0.0, 1.0)


@jax.jit
def hashed(x):
    x = x.astype(jnp.uint32)
    x = ~x + (x << 15)
    return x ^ (x >> 12)


@jax.jit
def flags(bits):
    low = bits & 7
    return ~low & bits


@jax.jit
def unknown(mask, x):
    return jnp.where(~mask, 0.0, x)
