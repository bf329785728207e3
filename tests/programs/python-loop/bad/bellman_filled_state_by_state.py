# source: QuantEcon/lecture-jax#87
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def bellman_operator(v, grid, prices):
    n = grid.shape[0]
    out = jnp.zeros_like(v)
    for i in range(n):  # finding
        consumption = grid[i] - grid
        value = jnp.where(consumption > 0, jnp.sqrt(jnp.maximum(consumption, 1e-8)), -1e9) + 0.95 * v
        out = out.at[i].set(jnp.max(value * prices))  # finding-also
    return out


def solve(grid, prices, n_iter):
    v = jnp.zeros_like(grid)
    return jax.lax.fori_loop(0, n_iter, lambda _, v: bellman_operator(v, grid, prices), v)


if __name__ == "__main__":
    print(solve(jnp.linspace(0.1, 2.0, 120), jnp.ones(120), 10)[:4])
