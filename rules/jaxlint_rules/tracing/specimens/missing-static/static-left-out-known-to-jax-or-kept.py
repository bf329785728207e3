# static, left out, known to JAX, or kept by the framework

import dataclasses
import enum
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

class Order(enum.IntEnum):
    FIRST = 1

class Point:
    def __init__(self, x):
        self.x = x

    @jax.jit
    def shift(self, by):
        return Point(self.x + by)

jax.tree_util.register_pytree_node(Point, lambda p: ((p.x,), None), lambda _, c: Point(*c))

class Shape:
    def area(self, scale):
        return scaled(self, scale)

@jax.jit
def scaled(shape, scale):
    return shape.side * scale

@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Square(Shape):
    side: jax.Array

class Model:
    def __init__(self):
        self.step = jax.jit(self._step)

    def _step(self, x, how="mean"):
        return x.mean() if how == "mean" else x

    @partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x

@partial(jax.jit, static_argnames=("mode", "act"))
def forward(x, mode="layer", act=jnp.tanh):
    return act(x)

@jax.jit
def smooth(x, kind="box", scale=None):
    return x

@eqx.filter_jit
def filtered(x, mode):
    return x

def main(x):
    a = forward(x, "batch", act=jax.nn.relu)
    b = smooth(x), smooth([x, (1, 2.0)], scale=None)
    c = filtered(x, "layer")
    d = smooth(x, Order.FIRST, True)
    e = Model().apply(x), Model().step(x), Point(x).shift(2)
    return a, b, c, d, e
