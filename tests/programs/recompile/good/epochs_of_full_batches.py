# source: google/flax#264
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def grads(w, x, y):
    return jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def train(w, x, y, batch=32, epochs=3):
    rng = np.random.default_rng(0)
    steps = len(x) // batch
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for i in range(steps):
            idx = order[i * batch : (i + 1) * batch]
            w = w - 0.1 * grads(w, x[idx], y[idx])
    return w


if __name__ == "__main__":
    print(train(jnp.zeros(3), np.ones((100, 3), np.float32), np.ones(100, np.float32)))
