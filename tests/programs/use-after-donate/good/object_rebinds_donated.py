# source: liesel-devs/liesel#272

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def sgd(params, momentum, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] - y) ** 2))(params)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum


class Learner:
    def __init__(self, dim):
        self.params = {"w": jnp.zeros(dim)}
        self.momentum = {"w": jnp.zeros(dim)}
        self.best = jax.tree.map(jnp.copy, self.params)

    def fit(self, x, y):
        self.params, self.momentum = sgd(self.params, self.momentum, x, y)
        return jnp.linalg.norm(self.params["w"] - self.best["w"])


if __name__ == "__main__":
    learner = Learner(3)
    for _ in range(3):
        print(learner.fit(jnp.ones((4, 3)), jnp.ones(4)))
