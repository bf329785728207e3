# another name, a jit alone, a mesh without the axis

import functools
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

@functools.partial(jax.pmap, axis_name="batch")
def step(params, grads):
    return params - lax.pmean(grads, axis_name="devices")  # finding

@jax.jit
def plain(params, grads):
    return params - mean(grads)

def mean(grads):
    return lax.pmean(grads, "replica")  # finding

mesh = jax.make_mesh((1,), ("data",))

def total(x):
    return lax.psum(x, "model")  # finding

summed = jax.shard_map(total, mesh=mesh, in_specs=P("data"), out_specs=P())
ranks = jax.vmap(lambda x: x + lax.axis_index("row"), axis_name="rows")  # finding
