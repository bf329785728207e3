# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


class FrozenLake:
    size = 4

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.transitions = jnp.asarray(rng.integers(0, 16, (16, 4)))
        self.starts = np.array([0, 1, 4])

    def reset(self, episode):
        return jnp.int32(self.starts[episode % 3])

    def step(self, state, action):
        state = self.transitions[state, action]
        return state, jnp.where(state == 15, 1.0, 0.0)


def rollout(env, key, horizon):
    def one(state, key):
        return env.step(state, jax.random.randint(key, (), 0, 4))

    return jax.lax.scan(one, env.reset(1), jax.random.split(key, horizon))


if __name__ == "__main__":
    print(rollout(FrozenLake(), jax.random.key(0), 10)[1].sum())
