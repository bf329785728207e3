# attributes that a jitted partial binds

from functools import partial

import jax
import jax.numpy as jnp


def policy(params, config, obs):
    return jnp.tanh(obs @ params) * config


class Agent:
    def __init__(self, params, config):
        self.params = params
        self.config = config
        self.act = jax.jit(partial(policy, self.params, self.config))  # finding

    def learn(self, grads):
        self.params = self.params - 0.1 * grads


class Renewed:
    def __init__(self, params, config):
        self.params = params
        self.act = jax.jit(partial(policy, self.params, config))

    def learn(self, grads):
        self.params = self.params - 0.1 * grads
        self.act = jax.jit(partial(policy, self.params, 1.0))
