# source: dpiras/cosmopower-jax#9

import jax
import jax.numpy as jnp
import numpy as np


def rotation(angle):
    c, s = jnp.cos(angle), jnp.sin(angle)
    return np.array([[c, -s], [s, c]])  # finding


def align(params, source):
    return source @ rotation(params["angle"]).T + params["shift"]


def registration_loss(params, source, target):
    return jnp.mean(jnp.sum((align(params, source) - target) ** 2, axis=-1))


def register(source, target, steps=10):
    params = {"angle": jnp.array(0.0), "shift": jnp.zeros(2)}
    value_and_grad = jax.jit(jax.value_and_grad(registration_loss))
    for _ in range(steps):
        _, grads = value_and_grad(params, source, target)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params


points = jax.random.normal(jax.random.key(0), (10, 2))
print(register(points, points + 1.0))
