# function: propose
# arguments: x=array, key=array
# refused: time.monotonic()

"""A simulated annealing whose temperature follows the clock."""

import time

import jax
import jax.numpy as jnp

BEGUN = time.monotonic()


def temperature():
    return 1.0 / (1.0 + time.monotonic() - BEGUN)


def propose(x, key):
    move = jax.random.normal(key, x.shape) * temperature()
    return jnp.where(jnp.sum((x + move) ** 2) < jnp.sum(x**2), x + move, x)


def main():
    x = jnp.ones(8)
    for number in range(60):
        x = propose(x, jax.random.key(number))
    print("better", bool(jnp.sum(x**2) < 8))


if __name__ == "__main__":
    main()
