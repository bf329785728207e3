# batches that are cut at random places, which the device drew; NumPy draws them, or the cut has one size

import jax
import jax.numpy as jnp
import numpy as np


def get_batch(key, data, batch_size, block):
    places = jax.random.randint(key, (batch_size,), 0, len(data) - block)
    x = jnp.stack([data[i : i + block] for i in places])  # finding
    y = jnp.stack([data[i + 1 : i + block + 1] for i in places])
    return x, y


def get_batch_on_host(rng, data, batch_size, block):
    places = rng.integers(0, len(data) - block, batch_size)
    return jnp.stack([data[i : i + block] for i in places])


def get_batch_fetched(key, data, batch_size, block):
    places = np.asarray(jax.random.randint(key, (batch_size,), 0, len(data) - block))
    return jnp.stack([data[i : i + block] for i in places])


def get_batch_on_device(key, data, batch_size, block):
    places = jax.random.randint(key, (batch_size,), 0, len(data) - block)
    return jax.vmap(lambda i: jax.lax.dynamic_slice_in_dim(data, i, block))(places)


def read(path, size):
    data = np.memmap(path, dtype=np.uint16, mode="r")
    key = jax.random.key(0)
    for _ in range(1000):
        key, draw = jax.random.split(key)
        get_batch(draw, data, size, 256)
        get_batch_fetched(draw, data, size, 256)
        get_batch_on_host(np.random.default_rng(0), data, size, 256)
