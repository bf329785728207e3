# products that fit, floats, 64 bits

import jax.numpy as jnp
import numpy as np

def powers(n):
    return 2 ** jnp.arange(31), 256.0 ** jnp.arange(1, 9), 2 ** jnp.arange(n), 10 ** np.arange(12)

def mixed(seed):
    return jnp.asarray(seed, jnp.uint32) * 2_147_483_629

def seconds(x):
    return jnp.asarray(x, jnp.float32) * 1_000_000_000

def offsets(rows, n):
    small = jnp.arange(1000) * 1000
    scaled = jnp.arange(100_000) * 50_000.0
    wide = np.arange(100_000, dtype=np.int64) * 50_000
    return small, scaled, wide, jnp.arange(n) * 50_000, rows * 50_000
