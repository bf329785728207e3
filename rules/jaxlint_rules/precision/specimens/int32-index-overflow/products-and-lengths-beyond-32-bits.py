# products and lengths beyond 32 bits

import jax.numpy as jnp

ROWS, COLUMNS = 100_000, 50_000

def offsets():
    return jnp.arange(ROWS) * COLUMNS  # finding

def milliseconds(days):
    return jnp.asarray(days, jnp.int32) * 86_400_000  # finding

def nanoseconds(seconds):
    return jnp.asarray(seconds, dtype=jnp.int32) * 1_000_000_000  # finding

def weights():
    return 1.0 / 256 ** jnp.arange(1, 9)  # finding

def flat(columns):
    rows = jnp.arange(ROWS)[:, None]
    return rows * COLUMNS + columns  # finding
