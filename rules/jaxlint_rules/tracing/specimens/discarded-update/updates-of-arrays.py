# updates of arrays

import jax
import jax.numpy as jnp
from jax import lax

def f(x, values):
    grid = jnp.zeros(8)
    for i, value in enumerate(values):
        grid.at[i].set(value)  # finding
    grid.at[0].add(1.0)  # finding
    lax.dynamic_update_slice(grid, jnp.ones(2), (3,))  # finding
    x.at[0].multiply(2.0)  # finding
    jax.random.permutation(jax.random.key(0), grid)  # finding
    grid.sort()  # finding
    lax.stop_gradient(grid)  # finding
    grid.astype(jnp.bfloat16)  # finding
    jax.tree.map(lambda p: p * 0.9, values)  # finding
    return grid, x
