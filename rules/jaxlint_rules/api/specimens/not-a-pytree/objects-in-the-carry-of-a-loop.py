# objects of unregistered classes in the carry of a loop
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import struct


@dataclass
class State:
    x: jax.Array
    v: jax.Array


class Counter:
    def __init__(self, n):
        self.n = n


@jax.tree_util.register_dataclass
@dataclass
class Registered:
    x: jax.Array


class Pair(NamedTuple):
    x: jax.Array
    v: jax.Array


@struct.dataclass
class Flax:
    x: jax.Array


@dataclass
class Late:
    x: jax.Array


jax.tree_util.register_pytree_node(Late, lambda s: ((s.x,), None), lambda _, xs: Late(*xs))


def main(x):
    jax.lax.fori_loop(0, 3, lambda i, s: replace(s, x=s.x + s.v), State(x, x))  # finding
    jax.lax.scan(lambda c, _: (c, None), (x, Counter(x)), None, length=3)  # finding
    jax.lax.while_loop(lambda s: jnp.all(s.x < 3), lambda s: s, State(x, x))  # finding
    jax.lax.fori_loop(0, 3, lambda i, s: s, Registered(x))
    jax.lax.fori_loop(0, 3, lambda i, s: s, Pair(x, x))
    jax.lax.fori_loop(0, 3, lambda i, s: s, Flax(x))
    jax.lax.fori_loop(0, 3, lambda i, s: s, Late(x))


main(jnp.ones(3))
