# blind: twentieth

"""Frame memory of a pixel agent, written in place on the device."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Config:
    capacity: int = 10_000
    frame: int = 64
    batch: int = 32


class Storage(NamedTuple):
    frames: jax.Array
    rewards: jax.Array
    count: jax.Array


@partial(jax.jit, donate_argnums=0)
def write(storage, frame, reward):
    slot = storage.count % storage.frames.shape[0]
    return Storage(
        frames=storage.frames.at[slot].set(frame),
        rewards=storage.rewards.at[slot].set(reward),
        count=storage.count + 1,
    )


@partial(jax.jit, static_argnames="batch")
def draw(storage, key, batch):
    filled = jnp.minimum(storage.count, storage.frames.shape[0])
    rows = jax.random.randint(key, (batch,), 0, filled)
    return storage.frames[rows].astype(jnp.float32) / 255.0, storage.rewards[rows]


class FrameMemory:
    def __init__(self, cfg):
        shape = (cfg.capacity, cfg.frame, cfg.frame)
        self.batch = cfg.batch
        self.storage = Storage(
            frames=jnp.zeros(shape, jnp.uint8),
            rewards=jnp.zeros(cfg.capacity),
            count=jnp.zeros((), jnp.int32),
        )

    def add(self, frame, reward):
        self.storage = write(self.storage, frame, reward)

    def sample(self, key):
        return draw(self.storage, key, self.batch)


def render(rng, pos, side):
    pos = np.clip(pos + rng.integers(-3, 4, 2), 0, side - 8)
    frame = np.zeros((side, side), np.uint8)
    frame[pos[0]:pos[0] + 8, pos[1]:pos[1] + 8] = 255
    return pos, frame, np.float32(-abs(pos[0] - pos[1]))


def main(steps=200):
    cfg = Config()
    memory = FrameMemory(cfg)
    rng = np.random.default_rng(0)
    pos = np.array([cfg.frame // 2, cfg.frame // 2])
    key = jax.random.key(0)
    brightness = []
    for step in range(steps):
        pos, frame, reward = render(rng, pos, cfg.frame)
        memory.add(frame, reward)
        if step % 20 == 19:
            key, sub = jax.random.split(key)
            frames, _ = memory.sample(sub)
            brightness.append(frames.mean())
    print("brightness", float(jnp.stack(brightness).mean()))


if __name__ == "__main__":
    main()
