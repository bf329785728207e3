# the counter of a loop that is unpacked, and features after pools

import equinox as eqx
import jax
import jax.numpy as jnp


def swapped(pair, i):
    one, two = pair  # finding
    return one + i, two


def right(i, pair):
    one, two = pair
    return one + i, two


class Network(eqx.Module):
    conv: eqx.nn.Conv2d
    pool: eqx.nn.MaxPool2d
    wrong: eqx.nn.Linear
    right: eqx.nn.Linear

    def __init__(self, key):
        one, two, three = jax.random.split(key, 3)
        self.conv = eqx.nn.Conv2d(1, 4, kernel_size=5, key=one)
        self.pool = eqx.nn.MaxPool2d(kernel_size=2, stride=2)
        self.wrong = eqx.nn.Linear(4 * 14 * 14, 10, key=two)
        self.right = eqx.nn.Linear(4 * 12 * 12, 10, key=three)

    def __call__(self, image):
        flat = self.pool(jax.nn.relu(self.conv(image))).reshape(-1)
        return self.right(flat) + self.wrong(flat)  # finding


def main(key, n):
    pair = jnp.zeros(n), jnp.ones(n)
    a = jax.lax.fori_loop(0, 10, swapped, pair)
    b = jax.lax.fori_loop(0, 10, right, pair)
    return a, b, jax.vmap(Network(key))(jnp.ones((8, 1, 28, 28)))
