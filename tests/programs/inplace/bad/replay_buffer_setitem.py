# source: jax-ml/jax#101

import jax
import jax.numpy as jnp


class ReplayBuffer:
    def __init__(self, capacity, obs_dim):
        self.capacity = capacity
        self.obs = jnp.zeros((capacity, obs_dim))
        self.rewards = jnp.zeros(capacity)
        self.ptr = 0

    def add(self, obs, reward):
        self.obs[self.ptr] = obs  # finding
        self.rewards[self.ptr] = reward  # finding
        self.ptr = (self.ptr + 1) % self.capacity

    def sample(self, key, batch):
        idx = jax.random.randint(key, (batch,), 0, self.capacity)
        return self.obs[idx], self.rewards[idx]


def main():
    buffer = ReplayBuffer(100, 3)
    for t in range(10):
        buffer.add(jnp.ones(3) * t, float(t))
    obs, rewards = buffer.sample(jax.random.key(0), 4)
    print(obs.shape, rewards)


main()
