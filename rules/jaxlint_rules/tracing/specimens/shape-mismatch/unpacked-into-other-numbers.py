# unpacked into another number of names

import jax
import jax.numpy as jnp

def augment(key, image):
    a, b = jax.random.split(key, 3)  # finding
    c, d = jax.random.split(key)
    e, f, g = jax.random.split(key, 3)
    first, *rest = jax.random.split(key, 3)
    return image, (a, b, c, d, e, f, g, first, rest)

augment(jax.random.key(0), jnp.ones((8, 8)))

def heads(x):
    batch, time = x.shape  # finding
    b, t, d = x.shape
    rows, cols = x.shape[1:]
    if x.ndim == 2:
        m, n = x.shape
    return batch, time, b, t, d, rows, cols

heads(jnp.ones((2, 10, 64)))

def either(x):
    b, t = x.shape
    return b * t

either(jnp.ones((2, 3)))
low, high = jnp.array([0.0, 1.0])
mean, std = jnp.ones((3, 2))  # finding
