# source: google-deepmind/optax#1059
# blind: fifteenth

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class ScheduleFreeState(NamedTuple):
    step: jax.Array
    z: Any


class ScheduleFree:
    def __init__(self, lr, beta=0.9):
        self.lr = lr
        self.beta = beta

    def init(self, params):
        return ScheduleFreeState(step=jnp.ones(()), z=params)

    def update(self, grads, state, params):
        z = jax.tree.map(lambda z, g: z - self.lr * g, state.z, grads)
        c = 1.0 / state.step
        x = jax.tree.map(lambda p, z: (1.0 - c) * p + c * (self.beta * p + (1.0 - self.beta) * z), params, z)
        return x, ScheduleFreeState(state.step + 1.0, z)


opt = ScheduleFree(0.1)


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, batch):
    grads = jax.grad(lambda p: jnp.mean((batch @ p["w"] + p["b"]) ** 2))(params)
    return opt.update(grads, opt_state, params)


def train(params, batches):
    opt_state = opt.init(params)
    for batch in batches:
        params, opt_state = train_step(params, opt_state, batch)  # finding
    return params


if __name__ == "__main__":
    print(train({"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}, [jnp.ones((4, 3))] * 3)["b"])
