# source: liesel-devs/liesel#272

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def sgd_step(params, x, y):
    grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


class OnlineLearner:
    def __init__(self, dim):
        self.params = {"w": jnp.zeros(dim), "b": jnp.zeros(())}
        self.seen = 0

    def partial_fit(self, x, y):
        updated = sgd_step(self.params, x, y)
        self.seen += len(y)
        drift = jnp.linalg.norm(updated["w"] - self.params["w"])  # finding
        self.params = updated
        return drift


if __name__ == "__main__":
    learner = OnlineLearner(3)
    print(learner.partial_fit(jnp.ones((4, 3)), jnp.ones(4)))
