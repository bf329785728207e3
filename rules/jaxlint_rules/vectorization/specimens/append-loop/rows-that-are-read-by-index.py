# a recurrence that reads the rows it has appended

import jax
import jax.numpy as jnp


@jax.jit
def factor(lower, diagonal, upper):
    rows = [diagonal[0]]
    scales = []
    for i in range(1, diagonal.shape[0]):  # finding
        scale = lower[i - 1] / rows[i - 1]
        scales.append(scale)
        rows.append(diagonal[i] - scale * upper[i - 1])
    return jnp.stack(rows), jnp.stack(scales)
