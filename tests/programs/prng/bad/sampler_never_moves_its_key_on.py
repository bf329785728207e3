# source: dunnolab/xland-minigrid#42
# blind: fifth

import jax
import jax.numpy as jnp


class ReplayBuffer:
    """A ring of transitions that gives random batches."""

    def __init__(self, capacity, obs_dim, seed=0):
        self.obs = jnp.zeros((capacity, obs_dim))
        self.reward = jnp.zeros(capacity)
        self.capacity = capacity
        self.size = 0
        self.key = jax.random.PRNGKey(seed)

    def add(self, obs, reward):
        slot = self.size % self.capacity
        self.obs = self.obs.at[slot].set(obs)
        self.reward = self.reward.at[slot].set(reward)
        self.size += 1

    def sample(self, batch_size):
        _, sub = jax.random.split(self.key)  # finding
        index = jax.random.randint(sub, (batch_size,), 0, min(self.size, self.capacity))  # finding-also
        return self.obs[index], self.reward[index]


def main():
    memory = ReplayBuffer(32, 3)
    for i in range(10):
        memory.add(jnp.full(3, float(i)), float(i))
    totals = [memory.sample(4)[1].sum() for _ in range(3)]
    print(totals)


if __name__ == "__main__":
    main()
