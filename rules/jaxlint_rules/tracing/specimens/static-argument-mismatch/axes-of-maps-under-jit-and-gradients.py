# in_axes of maps under jit and gradients

import jax
import jax.numpy as jnp


def loss(params, x, y, noise):
    return jnp.mean((x @ params - y) ** 2) / noise


def scaled(f):
    return lambda *args: 2.0 * f(*args)


gradients = jax.jit(jax.vmap(jax.value_and_grad(loss), in_axes=(0, None, None)))
all_rows = jax.jit(jax.grad(lambda *args: jax.vmap(loss, in_axes=(None, 0, 0, None))(*args).sum()))
twice = jax.jit(scaled(jax.vmap(loss, in_axes=(0, None, None))))


def main(params, x, y):
    a = gradients(params, x, y, 0.1)  # finding
    b = gradients(params, x, y)
    c = all_rows(params, x, y, 0.1)
    return a, b, c, twice(params, x, y), jax.pmap(jax.vmap(loss, in_axes=(0, None, None)))(params, x, y)
