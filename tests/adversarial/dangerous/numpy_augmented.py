# function: apply_twice
# arguments: w=numpy, momentum=numpy
# refused: `momentum += 0.5`

"""Momentum is kept in a NumPy array of the caller and updated by an augmented assignment."""

import jax
import jax.numpy as jnp
import numpy as np


def loss(w):
    return jnp.sum((w - 3.0) ** 2)


def push(w, velocity):
    velocity *= 0.9
    velocity -= 0.1 * np.asarray(2.0 * (w - 3.0))
    return w + velocity


def apply_twice(w, momentum):
    momentum += 0.5
    return jnp.asarray(w) * momentum


def main():
    w = np.zeros(4, dtype=np.float32)
    velocity = np.zeros(4, dtype=np.float32)
    momentum = np.ones(4, dtype=np.float32)
    for _ in range(50):
        w = push(w, velocity)
        scaled = apply_twice(w, momentum)
    print("w", w, "velocity", velocity, "momentum", momentum, "scaled", scaled)
    print("gradient", jax.grad(loss)(jnp.asarray(w)))


if __name__ == "__main__":
    main()
