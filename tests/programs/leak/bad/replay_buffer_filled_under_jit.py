# source: patrick-kidger/equinox#997
# blind: second

import jax
import jax.numpy as jnp


class Replay:
    def __init__(self, capacity, dim):
        self.rows = jnp.zeros((capacity, dim))
        self.cursor = 0

    def add(self, row):
        self.rows = self.rows.at[self.cursor].set(row)  # finding
        self.cursor += 1


class Actor:
    def __init__(self, dim):
        self.replay = Replay(8, dim)
        self.weights = jnp.eye(dim)
        self.act = jax.jit(self._act)

    def _act(self, obs):
        action = jnp.tanh(self.weights @ obs)
        self.replay.add(action)
        return action


if __name__ == "__main__":
    actor = Actor(3)
    for k in range(3):
        actor.act(jnp.full(3, float(k)))
    print(actor.replay.rows.sum())
