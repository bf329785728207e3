# a function that cuts its data between numbers that it draws, which vmap cannot do; one that does not

import jax
import jax.numpy as jnp


def get_batch(key, data, size, block):
    places = jax.random.randint(key, (size,), 0, len(data) - block)
    return jnp.stack([data[i : i + block] for i in places])


def noisy(key, data):
    return data + jax.random.normal(key, data.shape)


def batches(key, data, devices):
    keys = jax.random.split(key, devices)
    found = [get_batch(one, data, 8, 64) for one in keys]
    return jax.tree.map(lambda *parts: jnp.stack(parts), *found)


def several(key, data, devices):
    keys = jax.random.split(key, devices)
    found = [noisy(one, data) for one in keys]  # finding
    return jax.tree.map(lambda *parts: jnp.stack(parts), *found)
