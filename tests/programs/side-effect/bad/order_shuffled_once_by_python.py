# blind: every clause

import jax
import jax.numpy as jnp
import random


@jax.jit
def bag(x):
    order = list(range(4))
    random.shuffle(order)  # finding
    return x[jnp.array(order)]


bag(jnp.arange(4.0))
