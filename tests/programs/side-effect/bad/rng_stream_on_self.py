# source: jax-ml/jax#4312

from functools import partial

import jax
import jax.numpy as jnp


class NoisyPolicy:
    def __init__(self, seed, scale):
        self.key = jax.random.key(seed)
        self.scale = scale

    def next_key(self):
        self.key, sub = jax.random.split(self.key)  # finding
        return sub

    @partial(jax.jit, static_argnums=0)
    def act(self, params, obs):
        mean = jnp.tanh(obs @ params)
        return mean + self.scale * jax.random.normal(self.next_key(), mean.shape)


def main():
    policy = NoisyPolicy(0, 0.1)
    params = jnp.ones((3, 2))
    obs = jnp.ones(3)
    for _ in range(3):
        print(policy.act(params, obs))


main()
