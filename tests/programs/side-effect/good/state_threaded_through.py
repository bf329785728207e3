# source: jax-ml/jax#4312

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Policy(NamedTuple):
    key: jax.Array
    scale: float


@partial(jax.jit, static_argnames="shape")
def act(policy, params, obs, shape):
    key, sub = jax.random.split(policy.key)
    layers = []
    for w in params:
        layers.append(jnp.tanh(obs @ w))
    noise = policy.scale * jax.random.normal(sub, shape)
    return policy._replace(key=key), sum(layers) + noise


class Agent:
    def __init__(self, seed):
        self.policy = Policy(jax.random.key(seed), 0.1)
        self.history = []

    def step(self, params, obs):
        self.policy, action = act(self.policy, params, obs, (2,))
        self.history.append(action)
        return action


agent = Agent(0)
for _ in range(3):
    agent.step([jnp.ones((3, 2))] * 2, jnp.ones(3))
print(jnp.stack(agent.history))
