# function: step
# arguments: w=array, x=array, y=array
# refused: rng.integers(

"""Minibatches are drawn inside the step, by NumPy's generator."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def batch(x, y, size):
    rows = rng.integers(0, x.shape[0], size)
    return x[rows], y[rows]


def step(w, x, y):
    bx, by = batch(x, y, 16)
    gradient = bx.T @ (bx @ w - by) / 16
    return w - 0.1 * gradient


def main():
    x = jax.random.normal(jax.random.key(0), (256, 4))
    y = x @ jnp.array([1.0, 0.0, -1.0, 2.0])
    w = jnp.zeros(4)
    for _ in range(80):
        w = step(w, x, y)
    print("w", w)


if __name__ == "__main__":
    main()
