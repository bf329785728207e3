# function: layer
# arguments: w=array, x=array
# refused: random.choice(

"""Dropout by Python's generator, behind a helper."""

import random

import jax
import jax.numpy as jnp


def keep_rate():
    return random.choice([0.5, 0.7, 0.9])


def layer(w, x):
    return jnp.tanh(x @ w) * keep_rate()


def main():
    random.seed(0)
    w = jnp.eye(16) * 0.5
    x = jax.random.normal(jax.random.key(0), (4, 16))
    for _ in range(40):
        x = layer(w, x) + 0.1
    print("x", x.sum())


if __name__ == "__main__":
    main()
