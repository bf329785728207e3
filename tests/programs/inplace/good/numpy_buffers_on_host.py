# source: jax-ml/jax#101

import jax
import jax.numpy as jnp
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity, obs_dim):
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.rewards = np.zeros(capacity, np.float32)
        self.order = np.arange(capacity)
        self.ptr = 0

    def add(self, obs, reward):
        self.obs[self.ptr] = obs
        self.rewards[self.ptr] = reward
        self.ptr = (self.ptr + 1) % len(self.rewards)

    def batches(self, rng, size):
        rng.shuffle(self.order)
        for start in range(0, len(self.order), size):
            rows = self.order[start : start + size]
            yield jnp.asarray(self.obs[rows]), jnp.asarray(self.rewards[rows])


@jax.jit
def td_error(w, obs, rewards):
    targets = {"r": rewards}
    targets["r"] = targets["r"] - obs @ w
    return jnp.mean(targets["r"] ** 2)


buffer = ReplayBuffer(16, 3)
for t in range(16):
    buffer.add(np.ones(3) * t, t)
for obs, rewards in buffer.batches(np.random.default_rng(0), 8):
    print(td_error(jnp.zeros(3), obs, rewards))  # finding-other
