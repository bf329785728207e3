# sums that are set at indices which may come twice

import jax
import jax.numpy as jnp


@jax.jit
def degree(receivers, nodes):
    deg = jnp.zeros(nodes.shape[0])
    return deg.at[receivers].set(deg[receivers] + 1.0)  # finding


def histogram(counts, x):
    bins = jnp.floor(x * 10).astype(jnp.int32)
    return counts.at[bins].set(1 + counts[bins])  # finding


def scatter(grid, rows, cols, mass):
    return grid.at[rows, cols].set(grid[rows, cols] - mass)  # finding


histogram(jnp.zeros(10), jnp.linspace(0.0, 0.9, 30))
scatter(jnp.zeros((4, 4)), jnp.array([0, 0]), jnp.array([1, 1]), 1.0)
