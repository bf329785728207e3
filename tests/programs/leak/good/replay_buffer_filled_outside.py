# source: patrick-kidger/equinox#997
# blind: second

import jax
import jax.numpy as jnp


class Replay:
    def __init__(self, capacity, dim):
        self.rows = jnp.zeros((capacity, dim))
        self.cursor = 0

    def add(self, row):
        self.rows = self.rows.at[self.cursor].set(row)
        self.cursor += 1


class Actor:
    def __init__(self, dim):
        self.replay = Replay(8, dim)
        self.weights = jnp.eye(dim)
        self.policy = jax.jit(self._policy)

    def _policy(self, weights, obs):
        scratch = Replay(2, obs.shape[0])
        scratch.add(obs)
        return jnp.tanh(weights @ scratch.rows[0])

    def act(self, obs):
        action = self.policy(self.weights, obs)
        self.replay.add(action)
        return action


if __name__ == "__main__":
    actor = Actor(3)
    for k in range(3):
        actor.act(jnp.full(3, float(k)))
    print(actor.replay.rows.sum())
