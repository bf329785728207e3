# source: jax-ml/jax#9675
# blind: ninth

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class TrainState(NamedTuple):
    step: jax.Array
    params: dict


class Trainer:
    def __init__(self, log):
        self.log = log

    @partial(jax.jit, static_argnums=0, donate_argnames="state")
    def update(self, state, x):
        grads = jax.grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(state.params)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, state.params, grads)
        return TrainState(state.step + 1, params)

    def run(self, state, batches):
        for x in batches:
            new = self.update(state=state, x=x)
            self.log.append({"step": int(state.step), "norm": jnp.linalg.norm(new.params["w"])})  # finding
            state = new
        return state


if __name__ == "__main__":
    state = TrainState(jnp.int32(0), {"w": jnp.ones(4)})
    print(Trainer([]).run(state, [jnp.ones((8, 4))] * 3))
