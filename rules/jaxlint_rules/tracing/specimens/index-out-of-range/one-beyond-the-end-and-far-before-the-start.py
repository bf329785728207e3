# one beyond the end, and far before the start

import jax
import jax.numpy as jnp

@jax.jit
def last_state(states):
    return states[100]  # finding

last_state(jnp.zeros((100, 6)))
column = jnp.zeros((100, 6))[:, 6]  # finding
early = jnp.arange(3)[-4]  # finding
