# function: step
# arguments: w=array, x=array, y=array

"""Weights from a table that nothing changes."""

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.array([1.0, 0.5, 0.25, 0.125], dtype=np.float32)
RATE = 0.1


def loss(w, x, y):
    residual = x @ w - y
    return jnp.mean(residual**2 @ TABLE)


def step(w, x, y):
    return w - RATE * jax.grad(loss)(w, x, y)


def main():
    x = jax.random.normal(jax.random.key(0), (32, 3))
    y = jnp.stack([x.sum(axis=1)] * 4, axis=1)
    w = jnp.zeros((3, 4))
    for _ in range(60):
        w = step(w, x, y)
    print("w", w, "table", TABLE.sum())


if __name__ == "__main__":
    main()
