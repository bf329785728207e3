# source: jax-ml/jax#1251
# blind: first

import functools

import jax
import jax.numpy as jnp


class Grid:
    def __init__(self, nx, dx):
        self.nx, self.dx = nx, dx

    def __eq__(self, other):  # finding-also
        return isinstance(other, Grid) and (self.nx, self.dx) == (other.nx, other.dx)

    @functools.partial(jax.jit, static_argnums=0)  # finding-also
    def laplacian(self, u):
        return (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)) / self.dx**2


def diffuse(grid, u, steps):
    for _ in range(steps):
        u = u + 0.1 * grid.laplacian(u)  # finding
    return u


if __name__ == "__main__":
    print(diffuse(Grid(8, 1.0), jnp.arange(8.0), 2))
