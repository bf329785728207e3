# source: jax-ml/jax#9288
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


def loss(w, x, y, l2):
    return jnp.mean((x @ w - y) ** 2) + l2 * jnp.sum(w**2)


def fit_fold(x, y, l2, steps=20):
    w = jnp.zeros(x.shape[1])
    for _ in range(steps):
        g = jax.jit(jax.grad(partial(loss, l2=l2)))(w, x, y)  # finding
        w = w - 0.1 * g
    return w


if __name__ == "__main__":
    x = jnp.ones((8, 3))
    print([fit_fold(x, jnp.ones(8), l2) for l2 in (0.0, 0.1)])
