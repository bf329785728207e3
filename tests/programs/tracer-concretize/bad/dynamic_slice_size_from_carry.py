# source: jax-ml/jax#18554
# blind: first

import jax
import jax.numpy as jnp
from jax import lax

DATA = jnp.arange(64.0)


def window_mean(start, width):
    chunk = lax.dynamic_slice(DATA, (start,), (width,))  # finding
    return chunk.mean()


def widen(carry, _):
    start, width = carry
    return (start + 1, width + 1), window_mean(start, width)


@jax.jit
def profile(start):
    _, means = lax.scan(widen, (start, jnp.array(2)), length=8)
    return means


if __name__ == "__main__":
    print(profile(0))
