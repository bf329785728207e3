# source: fehiepsi/numpyro#1500
# blind: first

import jax
import jax.numpy as jnp
from jax import linear_util as lu  # finding
from jax.flatten_util import ravel_pytree


def flat_loss(loss, params):
    flat, unravel = ravel_pytree(params)
    wrapped = lu.wrap_init(lambda v: loss(unravel(v)))
    return flat, wrapped


if __name__ == "__main__":
    print(flat_loss(lambda p: jnp.sum(p["w"]), {"w": jnp.ones(2)}))
