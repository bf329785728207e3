# source: jax-ml/jax#15684
# blind: twentieth

"""Frame memory of a pixel agent, kept on the device."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Config:
    capacity: int = 10_000
    frame: int = 64
    batch: int = 32


class FrameMemory:
    def __init__(self, cfg):
        shape = (cfg.capacity, cfg.frame, cfg.frame)
        self.cfg = cfg
        self.frames = jnp.zeros(shape, jnp.uint8)  # finding-also
        self.rewards = jnp.zeros(cfg.capacity)
        self.cursor = 0
        self.filled = 0

    def add(self, frame, reward):
        slot = self.cursor
        self.frames = self.frames.at[slot].set(frame)  # finding
        self.rewards = self.rewards.at[slot].set(reward)  # finding-also
        self.cursor = (slot + 1) % self.cfg.capacity
        self.filled = min(self.filled + 1, self.cfg.capacity)

    def sample(self, key):
        return draw(self.frames, self.rewards, self.filled, key, self.cfg.batch)


@partial(jax.jit, static_argnames="batch")
def draw(frames, rewards, filled, key, batch):
    rows = jax.random.randint(key, (batch,), 0, filled)
    return frames[rows].astype(jnp.float32) / 255.0, rewards[rows]


class Camera:
    """Renders a bright square that moves at random."""

    def __init__(self, side, seed=0):
        self.side = side
        self.rng = np.random.default_rng(seed)
        self.pos = np.array([side // 2, side // 2])

    def step(self):
        self.pos = np.clip(self.pos + self.rng.integers(-3, 4, 2), 0, self.side - 8)
        frame = np.zeros((self.side, self.side), np.uint8)
        r, c = self.pos
        frame[r:r + 8, c:c + 8] = 255
        return frame, np.float32(-abs(r - c))


def main(steps=200):
    cfg = Config()
    memory, camera = FrameMemory(cfg), Camera(cfg.frame)
    key = jax.random.key(0)
    brightness = []
    for step in range(steps):
        frame, reward = camera.step()
        memory.add(frame, reward)  # finding-also
        if step % 20 == 19:
            key, sub = jax.random.split(key)
            frames, _ = memory.sample(sub)
            brightness.append(frames.mean())
    print("brightness", float(jnp.stack(brightness).mean()))


if __name__ == "__main__":
    main()
