# blind: tenth

from functools import partial

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@partial(jax.jit, static_argnames=("lr",))
def sgd(w, x, y, lr):
    return w - lr * jax.grad(loss)(w, x, y)


def fit(x, y, epochs=500):
    w, rate = jnp.zeros(x.shape[1]), 0.1
    for _ in range(epochs):
        w = sgd(w, x, y, lr=rate)  # finding
        rate = rate * 0.99
    return w


print(fit(jnp.ones((10, 3)), jnp.ones(10), epochs=5))
