# source: jax-ml/jax#2251
# blind: eighth

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    width: int
    gain: float


@partial(jax.jit, static_argnames="config")
def filter_step(x, config):
    kernel = jnp.ones(config.width) / config.width
    return config.gain * jnp.convolve(x, kernel, mode="same")


def run(x, steps):
    for _ in range(steps):
        x = filter_step(x, config=Config(5, 0.9))
    return x


if __name__ == "__main__":
    print(run(jnp.ones(16), 4))
