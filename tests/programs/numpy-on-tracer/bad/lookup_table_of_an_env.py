# source: jax-ml/jax#7545
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


class FrozenLake:
    size = 4

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.transitions = rng.integers(0, 16, (16, 4))
        self.rewards = np.zeros(16)
        self.rewards[15] = 1.0

    def step(self, state, action):
        state = self.transitions[state, action]  # finding
        return state, self.rewards[state]


def rollout(env, key, horizon):
    def one(state, key):
        action = jax.random.randint(key, (), 0, 4)
        return env.step(state, action)

    return jax.lax.scan(one, jnp.int32(0), jax.random.split(key, horizon))


if __name__ == "__main__":
    print(rollout(FrozenLake(), jax.random.key(0), 10)[1].sum())
