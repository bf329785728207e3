# blind: every clause

from collections import namedtuple
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import flax.core

Spec = namedtuple("Spec", "k s")


class Grid:
    def __init__(self, n, dx):
        self.n, self.dx = n, dx
        self.sizes = [1, 2]


class Hashed(Grid):
    def __eq__(self, other):
        return self.n == other.n

    def __hash__(self):
        return hash(self.n)


def laplace(u, grid):
    return u * grid.n


step = jax.jit(laplace, static_argnums=1)
kw = jax.jit(lambda x, fz: x, static_argnames="fz")
print(step(jnp.ones(4), Grid(4, 0.1)), step(jnp.ones(4), Hashed(4, 0.1)), kw(1.0, fz=frozenset({"a"})), kw(1.0, fz=Spec(1, (2, 3))), kw(1.0, fz=flax.core.freeze({"a": 1})))
