# source: jax-ml/jax#7144
# blind: ninth

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Learner(NamedTuple):
    params: dict
    momentum: dict
    steps: jax.Array


class Agent:
    def __init__(self, lr):
        self.lr = lr

    def initial(self):
        params = {"w": jnp.ones((256, 256)), "v": jnp.ones((256, 16))}
        return Learner(params, jax.tree.map(jnp.zeros_like, params), jnp.int32(0))

    @partial(jax.jit, static_argnums=0)  # finding
    def train_step(self, learner, batch):  # finding-also
        grads = jax.grad(lambda p: jnp.mean((jnp.tanh(batch @ p["w"]) @ p["v"]) ** 2))(learner.params)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, learner.momentum, grads)
        params = jax.tree.map(lambda p, m: p - self.lr * m, learner.params, momentum)
        return Learner(params, momentum, learner.steps + 1)


class Runner:
    def __init__(self, agent):
        self.agent = agent
        self.learner = agent.initial()

    def run(self, batches):
        for batch in batches:
            self.learner = self.agent.train_step(self.learner, batch)
        return self.learner.steps


if __name__ == "__main__":
    print(Runner(Agent(1e-3)).run([jnp.ones((64, 256))] * 5))
