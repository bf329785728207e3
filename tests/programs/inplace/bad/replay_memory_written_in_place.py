# source: jax-ml/jax#101
# blind: third

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Memory:
    capacity: int
    obs: jax.Array
    reward: jax.Array
    head: int = 0

    @classmethod
    def create(cls, capacity, obs_dim):
        return cls(capacity, jnp.zeros((capacity, obs_dim)), jnp.zeros(capacity))

    def push(self, obs, reward):
        slot = self.head % self.capacity
        self.obs[slot] = obs  # finding
        self.reward = self.reward.at[slot].set(reward)
        self.head += 1


def collect(memory, policy, n):
    obs = jnp.zeros(memory.obs.shape[1])
    for _ in range(n):
        obs = policy(obs)
        memory.push(obs, obs.sum())
    return memory


if __name__ == "__main__":
    print(collect(Memory.create(4, 3), lambda o: o + 1.0, 6).obs)
