# source: jax-ml/jax#803

import jax
import jax.numpy as jnp
import numpy as np


def minibatches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x) - size + 1, size):
        idx = order[start : start + size]
        yield x[idx], y[idx]


@jax.jit  # finding-other
def update(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def fit(x, y, epochs=2, size=8):
    w, rng = jnp.zeros(x.shape[1]), np.random.default_rng(0)
    for _ in range(epochs):
        for xb, yb in minibatches(x, y, size, rng):
            w = update(w, xb, yb)
    return w


if __name__ == "__main__":
    x = np.random.default_rng(1).normal(size=(30, 3)).astype(np.float32)
    print(fit(x, x.sum(1)))
