# flags: --sharp
"""A kernel that keeps its width as an attribute of the function, which a flag changes half-way."""

import sys

import jax
import jax.numpy as jnp


def kernel(a, b):
    distance = jnp.sum((a[:, None] - b[None]) ** 2, axis=-1)
    return jnp.exp(-distance / kernel.width).mean()


kernel.width = 1.0


def main():
    x = jax.random.normal(jax.random.key(0), (20, 3))
    for number in range(120):
        if number == 60 and "--sharp" in sys.argv:
            kernel.width = 0.1
        value = kernel(x, x + 0.01 * number)
        if number % 20 == 0:
            print(number, f"{value:.4f}")


if __name__ == "__main__":
    main()
