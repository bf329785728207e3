# function: network
# arguments: weights=list, x=array
# refused: reads `activation`, which is set at
# flags: --smooth

"""Swaps the activation of another file half-way."""

import sys

import jax
import jax.numpy as jnp
import layers


def network(weights, x):
    for w in weights:
        x = layers.dense(w, x)
    return x


def main():
    keys = jax.random.split(jax.random.key(0), 3)
    weights = [jax.random.normal(key, (16, 16)) / 4 for key in keys]
    x = jnp.ones((8, 16))
    for number in range(40):
        if number == 20 and "--smooth" in sys.argv:
            layers.activation = jnp.tanh
        y = network(weights, x + number)
    print("y", y.sum())


if __name__ == "__main__":
    main()
