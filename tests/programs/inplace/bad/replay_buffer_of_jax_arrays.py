# source: jax-ml/jax#926
# blind: ninth

import jax
import jax.numpy as jnp


class ReplayBuffer:
    def __init__(self, capacity, obs_dim):
        self.capacity = capacity
        self.obs = jnp.zeros((capacity, obs_dim))
        self.reward = jnp.zeros(capacity)
        self.position = 0

    def add(self, obs, reward):
        at = self.position % self.capacity
        self.obs[at] = obs  # finding
        self.reward[at] = reward  # finding
        self.position += 1

    def sample(self, key, size):
        rows = jax.random.randint(key, (size,), 0, min(self.position, self.capacity))
        return self.obs[rows], self.reward[rows]


if __name__ == "__main__":
    buffer = ReplayBuffer(100, 4)
    for i in range(10):
        buffer.add(jnp.ones(4) * i, 1.0)
    print(buffer.sample(jax.random.key(0), 4))
