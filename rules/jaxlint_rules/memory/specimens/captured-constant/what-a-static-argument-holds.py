# what a static argument holds: its arrays are constants of the program
import functools

import jax
import jax.numpy as jnp
import numpy as np


class Grid:
    def __init__(self, points, rows=4):
        self.points = points
        nodes = jnp.linspace(-1.0, 1.0, points)
        self.matrix = jnp.cos(jnp.outer(nodes, nodes))
        self.inverse = jnp.linalg.inv(self.matrix + jnp.eye(points))
        self.weights = jnp.full((rows,), 1.0 / rows)

    def solve(self, b):
        return self.inverse @ b  # finding


@functools.partial(jax.jit, static_argnames="grid")
def advance(u, grid):
    return u + 0.1 * grid.solve(u)


# sizes and small arrays are read, the object is passed as a pytree, and a small one


@functools.partial(jax.jit, static_argnums=(1,))
def weighted(u, grid):
    return u[:4] * grid.weights + grid.matrix.shape[0] + grid.points


@jax.tree_util.register_pytree_node_class
class Operator:
    def __init__(self, matrix):
        self.matrix = matrix

    def tree_flatten(self):
        return (self.matrix,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        made = object.__new__(cls)
        made.matrix = children[0]
        return made


@jax.jit
def applied(u, operator):
    return operator.matrix @ u


class Small:
    def __init__(self, points):
        self.filter = jnp.ones((points, points))

    @functools.partial(jax.jit, static_argnums=0)
    def smooth(self, x):
        return self.filter @ x


def main():
    grid = Grid(1200)
    u = jnp.asarray(np.sin(np.arange(1200.0)))
    u = advance(u, grid=grid)
    print(weighted(u, grid), applied(u, Operator(grid.matrix)), Small(8).smooth(u[:8]))


main()
