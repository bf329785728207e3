# source: google/flax#3997
# blind: second

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Stats(NamedTuple):
    mean: jax.Array
    var: jax.Array


class RunningNorm:
    def __init__(self, size, momentum=0.99):
        self.size = size
        self.momentum = momentum

    def init(self):
        return Stats(jnp.zeros(self.size), jnp.ones(self.size))

    def update(self, stats, x):
        m = self.momentum
        return Stats(
            m * stats.mean + (1 - m) * x.mean(axis=0),
            m * stats.var + (1 - m) * x.var(axis=0),
        )

    def __call__(self, stats, x):
        return (x - stats.mean) / jnp.sqrt(stats.var + 1e-5)


class Policy:
    def __init__(self, key, size):
        self.norm = RunningNorm(size)
        self.stats = self.norm.init()
        self.w = jax.random.normal(key, (size, 2))

        @jax.jit
        def act(w, stats, obs):
            stats = self.norm.update(stats, obs)
            return jnp.tanh(self.norm(stats, obs) @ w), stats

        self._act = act

    def act(self, obs):
        actions, self.stats = self._act(self.w, self.stats, obs)
        return actions


def main():
    policy = Policy(jax.random.key(0), 3)
    for obs in jax.random.normal(jax.random.key(1), (4, 8, 3)):
        actions = policy.act(obs)
    print(actions.shape, policy.stats.mean + 1)


if __name__ == "__main__":
    main()
