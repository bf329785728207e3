# entries of a sparse operator that are large together, and a small one

import jax
import jax.numpy as jnp
import numpy as np


def entries(n):
    rows = np.repeat(np.arange(n), 3)
    values = np.tile([-1.0, 2.0, -1.0], n).astype(np.float32)
    return jnp.asarray(rows), jnp.asarray(rows[::-1]), jnp.asarray(values)


def operator(n):
    rows, columns, values = entries(n)

    def product(x):
        return jax.ops.segment_sum(values * x[columns], rows, num_segments=n)  # finding

    return jax.jit(product)


def small(n):
    weights = jnp.ones(n)

    @jax.jit
    def weighted(x):
        return weights * x

    return weighted


print(operator(300_000)(jnp.ones(300_000)), small(300)(jnp.ones(300)))
