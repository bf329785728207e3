# sizes that the math module computes

import math

import jax.numpy as jnp

ROWS, WIDTH = 100, 32


def blocks():
    return jnp.zeros((math.ceil(ROWS / WIDTH), WIDTH))


def main(n):
    wrong = blocks() + jnp.ones((3, WIDTH))  # finding
    right = blocks() + jnp.ones((4, WIDTH))
    open_size = jnp.zeros(math.floor(n / 2)) + jnp.ones(3)
    return wrong, right, open_size, jnp.ones(math.isqrt(64)) + jnp.zeros(8)
