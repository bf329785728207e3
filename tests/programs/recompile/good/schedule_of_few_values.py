# blind: eleventh
from functools import partial

import jax
import jax.numpy as jnp


def resolution(epoch):
    if epoch < 10:
        return 16
    if epoch < 20:
        return 32
    return 64


@partial(jax.jit, static_argnames="size")
def step(w, size):
    grid = jnp.linspace(0, 1, size)
    return w - 0.1 * jax.grad(lambda w: jnp.mean((jnp.sin(w * grid) - grid) ** 2))(w)


def train(epochs):
    w = jnp.ones(())
    for epoch in range(epochs):
        w = step(w, size=resolution(epoch))
    return w


if __name__ == "__main__":
    print(train(30))
