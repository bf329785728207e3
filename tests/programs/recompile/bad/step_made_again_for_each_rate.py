# blind: tenth

import functools

import jax
import jax.numpy as jnp


def update(w, x, rate):
    return w - rate * jax.grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)


def train(batches, epochs):
    w, rate = jnp.zeros(3), 0.1
    for epoch in range(epochs):
        step = jax.jit(functools.partial(update, rate=rate))  # finding
        for x in batches:
            w = step(w, x)
        rate *= 0.9
    return w


print(train([jnp.eye(3)] * 4, 3))
