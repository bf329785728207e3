# source: jax-ml/jax#2521
# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp


class Settings:
    def __init__(self, rate, clip):
        self.rate = rate
        self.clip = clip


@partial(jax.jit, static_argnames=("settings",), donate_argnames=("w",))
def step(w, x, y, settings):
    grad = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    grad = jnp.clip(grad, -settings.clip, settings.clip)
    return w - settings.rate * grad


def train(x, y, n_steps):
    w = jnp.zeros(x.shape[1])
    for _ in range(n_steps):
        w = step(w, x, y, settings=Settings(rate=0.1, clip=1.0))  # finding
    return w


if __name__ == "__main__":
    print(train(jnp.ones((8, 3)), jnp.ones(8), 4))
