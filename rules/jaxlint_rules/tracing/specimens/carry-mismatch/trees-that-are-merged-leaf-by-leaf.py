# tree.map over objects, tuples and dicts of known leaves: each leaf keeps its own type

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class Tally:
    hits: jax.Array
    weight: jax.Array

    def merge(self, other):
        return jax.tree.map(lambda a, b: a + b, self, other)


def tally(x, w):
    return Tally(jnp.sum(x > 0), jnp.sum(w))


@jax.jit
def counted(xs, ws):
    def body(total, batch):
        return total.merge(tally(*batch)), None

    start = Tally(jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32))
    return jax.lax.scan(body, start, (xs, ws))[0]  # finding


@jax.jit
def counted_well(xs, ws):
    def body(total, batch):
        return total.merge(tally(*batch)), None

    start = Tally(jnp.zeros((), jnp.int32), jnp.zeros(()))
    return jax.lax.scan(body, start, (xs, ws))[0]


class Moments(NamedTuple):
    first: jax.Array
    second: jax.Array


@jax.jit
def moments(xs):
    def body(total, x):
        return jax.tree.map(jnp.add, total, Moments(x, x**2)), None

    return jax.lax.scan(body, Moments(jnp.zeros(3), jnp.zeros(3)), xs)[0]


@jax.jit
def norms(xs):
    def body(total, x):
        return jax.tree.map(lambda a, b: a + b.sum(), total, {"one": x, "two": jnp.abs(x)}), None

    start = {"one": jnp.zeros((), jnp.bfloat16), "two": jnp.zeros(())}
    return jax.lax.scan(body, start, xs)[0]  # finding


xs = jnp.ones((4, 3))
print(counted_well(xs, xs), moments(xs))
print(counted(xs, xs), norms(xs))
