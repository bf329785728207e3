# blind: every clause

import functools
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Optional

import chex
import flax
import jax
import jax.numpy as jnp


class Pair(NamedTuple):
    a: jax.Array
    b: Optional[jax.Array] = None


@functools.partial(jax.tree_util.register_dataclass, data_fields=("x",), meta_fields=("name", "n"))
@dataclass
class Particle:
    x: jax.Array
    name: str
    n: int = 2


@flax.struct.dataclass
class TS:
    w: jax.Array
    train: bool = flax.struct.field(pytree_node=False)


@chex.dataclass
class C:
    w: chex.Array
    extra: Optional[chex.Array] = None


@jax.jit
def f(pair, p, ts, c):
    s = pair.a
    if pair.b is not None:
        s = s + pair.b
    if p.name == "electron" and p.n > 1:
        s = s * p.x
    if ts.train:
        s = s * ts.w
    if c.extra is None:
        s = s + c.w
    if len(pair) == 2 and isinstance(s, jax.Array):
        s = s * 2
    return s


o = jnp.ones(2)
print(f(Pair(o), Particle(o, "electron"), TS(o, True), C(w=o)))
