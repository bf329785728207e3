# source: jax-ml/jax#9820
# blind: first

import jax
import jax.numpy as jnp


class ReplayBuffer:
    def __init__(self, capacity, obs_dim, seed=0):
        self.obs = jnp.zeros((capacity, obs_dim))
        self.size = 0
        self.key = jax.random.key(seed)

    def add(self, obs):
        self.obs = self.obs.at[self.size % self.obs.shape[0]].set(obs)
        self.size += 1

    def sample(self, batch_size):
        idx = jax.random.randint(self.key, (batch_size,), 0, self.size)  # finding
        return self.obs[idx]


def learn(buffer, updates):
    total = 0.0
    for _ in range(updates):
        total = total + buffer.sample(8).sum()
    return total


if __name__ == "__main__":
    buf = ReplayBuffer(32, 2)
    for i in range(10):
        buf.add(jnp.ones(2) * i)
    print(learn(buf, 3))
