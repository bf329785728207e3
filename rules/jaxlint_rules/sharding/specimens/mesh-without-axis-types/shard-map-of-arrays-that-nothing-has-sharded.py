# shard_map of arrays that nothing has sharded

import functools
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((8,), ("rows",))


@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("rows"), P()), out_specs=P("rows"))
def scaled(x, w):
    return x @ w


def main(key):
    w = jax.random.normal(key, (3, 3))
    first = scaled(jnp.ones((8, 3)), w)  # finding
    second = jax.jit(scaled)(np.ones((8, 3)), w)  # finding
    return first, second, scaled(2.0 * jax.random.normal(key, (8, 3)), w)  # finding
