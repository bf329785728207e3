# objects that hold themselves, with no optimizer in them
import functools

import equinox as eqx
import jax
import jax.numpy as jnp


class Node:
    def __init__(self, parent=None):
        self.parent = parent if parent is not None else self


@functools.partial(jax.jit, static_argnums=0)
def scaled(node, x):
    return x * 2


@eqx.filter_jit
def shifted(node, x):
    return x + 1


def run(x):
    root = Node()
    for _ in range(10):
        x = shifted(root, scaled(root, x))
    return x


run(jnp.ones(3))
