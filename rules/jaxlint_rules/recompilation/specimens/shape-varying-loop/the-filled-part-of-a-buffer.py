# an object returns the filled part of its buffer; one that is full, one that is emptied, and one that asks first
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass
class Replay:
    capacity: int
    size: int = 0
    head: int = 0

    def __post_init__(self):
        self.obs = np.zeros((self.capacity, 4), np.float32)

    def add(self, obs):
        self.obs[self.head] = obs
        self.head = (self.head + 1) % self.capacity
        self.size = min(self.size + 1, self.capacity)

    def filled(self):
        return self.obs[: self.size], self.obs[: self.size].sum(-1)

    def whole(self):
        return self.obs, self.size


class Rollout:
    def __init__(self, length):
        self.obs = np.zeros((length, 4), np.float32)
        self.n = 0

    def add(self, obs):
        self.obs[self.n] = obs
        self.n += 1

    def clear(self):
        self.n = 0

    def get(self):
        return self.obs[: self.n]


@jax.jit
def fit(params, obs, target):
    return params - 0.1 * jnp.mean(obs @ params - target)


@jax.jit
def improve(params, obs):
    return params - 0.1 * jnp.mean(obs @ params)


def grows(params, rng):
    replay = Replay(4096)
    for _ in range(1000):
        replay.add(rng.normal(size=4))
        params = fit(params, *replay.filled())  # finding
    return params


def unpacked(params, rng):
    replay = Replay(4096)
    for _ in range(1000):
        replay.add(rng.normal(size=4))
        obs, target = replay.filled()
        params = fit(params, obs, target)  # finding
    return params


def full(params, rng):
    replay = Replay(4096)
    for _ in range(1000):
        replay.add(rng.normal(size=4))
        params = fit(params, *replay.whole())
    return params


def emptied(params, rng):
    rollout = Rollout(16)
    for _ in range(1000):
        for _ in range(16):
            rollout.add(rng.normal(size=4))
        params = improve(params, rollout.get())
        rollout.clear()
    return params


def filled_before(params, rng):
    replay = Replay(4096)
    for _ in range(1000):
        replay.add(rng.normal(size=4))
    for _ in range(100):
        params = fit(params, *replay.filled())
    return params
