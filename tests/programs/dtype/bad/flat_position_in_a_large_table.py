# blind: tenth

import jax
import jax.numpy as jnp

ROWS, COLS = 70_000, 50_000


@jax.jit
def bucket(rows, cols):
    """A unique number for each cell of the table."""
    rows = rows.astype(jnp.int32)
    flat = jnp.clip(rows, 0, ROWS - 1) * COLS + cols  # finding
    return flat % 1021


rows = jnp.arange(0, ROWS, 7_000)
print(bucket(rows, jnp.zeros_like(rows)))
