# source: jax-ml/jax#8487
# blind: first

import jax
import jax.numpy as jnp


def deposit(grid, cells, charge):
    for cell, q in zip(cells, charge):
        grid.at[cell] += q  # finding
    return grid


@jax.jit
def density(cells, charge):
    return deposit(jnp.zeros(16), cells, charge)


if __name__ == "__main__":
    print(density(jnp.array([1, 2, 2]), jnp.ones(3)))
