# tables that NumPy computes

import jax
import jax.numpy as jnp
import numpy as np


def tables(dim, length):
    rates = 1.0 / 10_000.0 ** (np.arange(0, dim, 2) / dim)
    angles = np.outer(np.arange(length), rates).astype(np.float32)
    return np.cos(angles), np.sin(angles)


def rotated(x, cos, sin):
    one, two = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], axis=-1)  # finding


def narrow(x, cos, sin):
    one, two = jnp.split(x, 2, axis=-1)
    cos, sin = cos.astype(x.dtype), sin.astype(x.dtype)
    return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], axis=-1)


@jax.jit
def attend(x):
    x = x.astype(jnp.bfloat16)
    cos, sin = tables(64, 16)
    return rotated(x, cos, sin) @ narrow(x, cos, sin).T


attend(jnp.ones((16, 64)))
