# the clock since 1970

import time
import jax
import jax.numpy as jnp

@jax.jit
def rate(state, now):
    return 1e-3 * jnp.exp((state - now) / 3600.0)

started = jnp.asarray(time.time())  # finding
begun = jnp.float32(time.time())  # finding
first = rate(0.0, time.time())  # finding
