# updates of arrays

import jax
import jax.numpy as jnp
from jax import lax

def f(x, values):
    grid = jnp.zeros(8)
    for i, value in enumerate(values):
        grid = grid.at[i].set(value)
    grid = grid.at[0].add(1.0)
    grid = lax.dynamic_update_slice(grid, jnp.ones(2), (3,))
    x = x.at[0].multiply(2.0)
    jax.random.permutation(jax.random.key(0), grid)
    grid = grid.sort()
    grid = lax.stop_gradient(grid)
    grid = grid.astype(jnp.bfloat16)
    jax.tree.map(lambda p: p * 0.9, values)
    return grid, x
