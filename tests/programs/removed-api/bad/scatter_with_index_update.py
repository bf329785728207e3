# source: jax-ml/jax#2251
# blind: eighth

import jax
import jax.numpy as jnp
from jax import ops


@jax.jit
def infect(state, where, level):
    infected = ops.index_update(state, ops.index[where], 1.0)  # finding
    return ops.index_add(infected, where, level)  # finding-also


if __name__ == "__main__":
    print(infect(jnp.zeros(6), jnp.array([1, 4]), 0.5))
