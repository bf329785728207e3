# blind: ninth

from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class Config:
    hidden: list = field(default_factory=lambda: [32, 32])
    out: int = 4


@partial(jax.jit, static_argnames=("sizes",))
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, (m, n)) / m**0.5 for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def build(cfg, features, seed=0):
    return init_mlp(jax.random.key(seed), sizes=[features, *cfg.hidden, cfg.out])  # finding


if __name__ == "__main__":
    print(len(build(Config(), 8)))
