# source: deepmind/distrax#220
# blind: first

from typing import Tuple

import jax
import jax.numpy as jnp


def split_two(key: jax.random.KeyArray) -> Tuple[jax.random.KeyArray, jax.random.KeyArray]:  # finding
    a, b = jax.random.split(key)
    return a, b


def noise(key, shape):
    k1, k2 = split_two(key)
    return jax.random.normal(k1, shape) + jax.random.cauchy(k2, shape)


if __name__ == "__main__":
    print(noise(jax.random.key(0), (2,)))
