# source: jax-ml/jax#8604
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


@jax.jit
def flat_index(rows, cols, width):
    rows = rows.astype(jnp.int16)
    return rows * width.astype(jnp.int16) + cols.astype(jnp.int16)  # finding


if __name__ == "__main__":
    print(flat_index(jnp.array([300]), jnp.array([5]), jnp.array(200)))
