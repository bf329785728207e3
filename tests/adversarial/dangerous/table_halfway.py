# function: step
# arguments: w=array, x=array, y=array
# refused: reads `TABLE`, which changes at

"""Fits a line with weights from a table, which a warm-up replaces half-way."""

import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.ones(8, dtype=np.float32)


def warm_up(epoch):
    for index in range(len(TABLE)):
        TABLE[index] = 1.0 / (1 + index + epoch)


def loss(w, x, y):
    residual = x @ w - y
    return jnp.mean(TABLE[: residual.shape[0]] * residual**2)


def step(w, x, y):
    gradient = jax.grad(loss)(w, x, y)
    return w - 0.1 * gradient


def main():
    key = jax.random.key(0)
    x = jax.random.normal(key, (8, 3))
    y = x @ jnp.array([1.0, -2.0, 0.5])
    w = jnp.zeros(3)
    for epoch in range(40):
        if epoch == 20:
            warm_up(epoch)
        w = step(w, x, y)
    print("weights", w)
    print("loss", loss(w, x, y))


if __name__ == "__main__":
    main()
