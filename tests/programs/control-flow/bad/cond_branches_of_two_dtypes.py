# source: jax-ml/jax#4416
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def reset(state):
    return {"h": jnp.zeros_like(state["h"]), "t": 0.0}


def keep(state):
    return {"h": state["h"], "t": state["t"] + 1}


@jax.jit
def maybe_reset(state, done):
    return lax.cond(done, reset, keep, state)  # finding


if __name__ == "__main__":
    s = {"h": jnp.ones(3), "t": jnp.array(4, jnp.int32)}
    print(maybe_reset(s, jnp.array(False)))
