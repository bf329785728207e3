# source: google/flax#1745
# blind: sixth

"""Typed helpers around keys."""
from typing import Any, Callable

import jax
import jax.numpy as jnp
from jax.core import Shape  # finding

Dtype = Any
Initializer = Callable[[jax.Array, Shape, Dtype], jax.Array]


def scaled(scale: float) -> Initializer:
    def init(key, shape, dtype=jnp.float32):
        return scale * jax.random.normal(key, shape, dtype)

    return init


def make_params(key, sizes, init=scaled(0.02)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [init(k, (m, n), jnp.float32) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


if __name__ == "__main__":
    print([w.shape for w in make_params(jax.random.key(0), (8, 16, 4))])
