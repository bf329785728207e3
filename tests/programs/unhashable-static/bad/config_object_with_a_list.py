# blind: ninth

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Config:
    orders: list
    scale: float = 1.0


class Basis:
    def __init__(self, config):
        self.apply = jax.jit(self._apply, static_argnames="config")
        self.config = config

    @staticmethod
    def _apply(x, config):
        return config.scale * jnp.stack([x**n for n in config.orders], -1)

    def __call__(self, x):
        return self.apply(x, config=self.config)  # finding


if __name__ == "__main__":
    print(Basis(Config(orders=[1, 2, 3]))(jnp.ones(4)).shape)
