# source: world-modelz/dreamax#14
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


class Agent:
    def __init__(self, dim):
        self.params = jnp.zeros((dim, 2))
        self.steps = 0

    def loss(self, params, obs, actions):
        logits = obs @ params
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(obs.shape[0]), actions])

    @partial(jax.jit, static_argnums=0)
    def update(self, obs, actions):
        grads = jax.grad(self.loss)(self.params, obs, actions)
        self.params = self.params - 0.1 * grads  # finding
        self.steps += 1  # finding-also
        return jnp.abs(grads).max()


if __name__ == "__main__":
    agent = Agent(3)
    for _ in range(2):
        print(agent.update(jnp.ones((4, 3)), jnp.zeros(4, jnp.int32)))
