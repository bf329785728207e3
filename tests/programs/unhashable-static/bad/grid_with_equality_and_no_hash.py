# blind: every clause

import jax
import jax.numpy as jnp


class Grid:
    def __init__(self, n, dx):
        self.n, self.dx = n, dx

    def __eq__(self, other):
        return (self.n, self.dx) == (other.n, other.dx)


@jax.jit
def unused(x):
    return x


def laplace(u, grid):
    return (jnp.roll(u, 1) + jnp.roll(u, -1) - 2 * u) / grid.dx ** 2


step = jax.jit(laplace, static_argnums=1)
print(step(jnp.ones(4), Grid(4, 0.1)))  # finding
