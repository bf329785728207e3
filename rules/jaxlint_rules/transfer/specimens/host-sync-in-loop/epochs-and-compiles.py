# values of a whole epoch, and iterations that compile

import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x):
    return w - 0.1 * x.mean(), x.sum()


@jax.jit
def accuracy(w, x):
    return (w * x > 0).mean()


def epochs(w, train, test):
    for epoch in range(10):
        for x in train:
            w, loss = train_step(w, x)
        scores = [accuracy(w, x) for x in test]
        print(epoch, loss, sum(scores))
    return w


def per_step(w, train):
    losses = []
    for x in train:
        w, loss = train_step(w, x)
        losses.append(float(loss))  # finding
    return w, losses


def compare(shapes):
    worst = 0.0
    for shape in shapes:
        x = jnp.ones(shape)
        fast = jax.jit(jax.vmap(lambda row: row * len(shape)))(x)
        worst = max(worst, float(jnp.abs(fast - x).max()))
    return worst
