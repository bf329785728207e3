# source: jax-ml/jax#3086

import itertools

import jax
import jax.numpy as jnp
import numpy as np


def batches(seed, size):
    rng = np.random.default_rng(seed)
    while True:
        x = rng.normal(size=(size, 3)).astype(np.float32)
        yield x, x.sum(axis=1)


def make_train_step(stream, lr):
    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    @jax.jit
    def train_step(w):
        x, y = next(stream)  # finding
        return w - lr * jax.grad(loss)(w, x, y)

    return train_step


step = make_train_step(batches(0, 8), 0.1)
w = jnp.zeros(3)
for _ in itertools.repeat(None, 20):
    w = step(w)
print(w)
