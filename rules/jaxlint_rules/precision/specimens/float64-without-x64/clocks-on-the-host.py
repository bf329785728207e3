# differences of the clock, and other clocks

import time
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def rate(elapsed):
    return 1e-3 * jnp.exp(-elapsed / 3600.0)

started = time.time()
passed = jnp.asarray(time.time() - started)
first = rate(time.time() - started)
host = np.float64(time.time())
counter = jnp.asarray(time.perf_counter())
key = jax.random.key(int(time.time()))
