# source: jax-ml/jax#20399
# blind: eighth

import jax
import jax.numpy as jnp
from jax import lax


def clipped(g, limit):
    return g * limit / jnp.linalg.norm(g)


def plain(g):
    return g


@jax.jit
def clip_gradient(g, limit):
    too_long = jnp.linalg.norm(g) > limit
    return lax.cond(too_long, clipped(g, limit), plain(g))  # finding


if __name__ == "__main__":
    print(clip_gradient(jnp.ones(4), 1.0))
