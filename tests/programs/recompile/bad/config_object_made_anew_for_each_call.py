# source: jax-ml/jax#2251
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


class Config:
    def __init__(self, width, gain):
        self.width = width
        self.gain = gain


@partial(jax.jit, static_argnames="config")  # finding-also
def filter_step(x, config):
    kernel = jnp.ones(config.width) / config.width
    return config.gain * jnp.convolve(x, kernel, mode="same")


def run(x, steps):
    for _ in range(steps):
        x = filter_step(x, config=Config(5, 0.9))  # finding
    return x


if __name__ == "__main__":
    print(run(jnp.ones(16), 4))
