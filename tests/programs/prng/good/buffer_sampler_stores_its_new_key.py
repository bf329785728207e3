# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np


class ReplayBuffer:
    """A ring of transitions on the host that gives random batches."""

    def __init__(self, capacity, obs_dim, seed=0):
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.capacity = capacity
        self.size = 0
        self.key = jax.random.PRNGKey(seed)

    def add(self, obs):
        self.obs[self.size % self.capacity] = obs
        self.size += 1

    def next_key(self):
        self.key, sub = jax.random.split(self.key)
        return sub

    def sample(self, batch_size):
        index = jax.random.randint(self.next_key(), (batch_size,), 0, min(self.size, self.capacity))
        return jnp.asarray(self.obs[np.asarray(index)])


def main():
    memory = ReplayBuffer(32, 3)
    for i in range(10):
        memory.add(np.full(3, float(i)))
    first, second = memory.sample(4), memory.sample(4)
    print(first.sum(), second.sum())


if __name__ == "__main__":
    main()
