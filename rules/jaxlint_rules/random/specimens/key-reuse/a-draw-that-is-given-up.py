# a draw that is given up, since the function returns another

import jax
import jax.numpy as jnp


def rotation(key, n, theta=None):
    angle_key, rest_key = jax.random.split(key)
    if theta is None:
        theta = jnp.pi * jax.random.uniform(angle_key)
    if n == 1:
        return jax.random.uniform(angle_key) * jnp.eye(1)
    return jax.random.uniform(rest_key, (n, n)) * jnp.cos(theta)


def scaled(key, n, theta=None):
    if theta is None:
        theta = jnp.pi * jax.random.uniform(key)
    if n == 1:
        return jax.random.uniform(key) * theta  # finding
    return jnp.eye(n) * theta


def twice_split(key, count):
    keys = jax.random.split(key, count)
    keys = jax.random.split(key, count)
    return [jax.random.normal(part) for part in keys]


def twice_split_and_read(key, count):
    keys = jax.random.split(key, count)
    first = jax.random.normal(keys[0])
    keys = jax.random.split(key, count)  # finding
    return first, keys
