# bound here, further out, or not known

import functools
import jax
from jax import lax
from jax.sharding import PartitionSpec as P

@functools.partial(jax.pmap, axis_name="batch")
def step(params, grads):
    grads = jax.vmap(lambda g: g + lax.psum(g, "batch"))(grads)
    return params - lax.pmean(grads, axis_name="batch")

@jax.jit
def inner(x):
    return lax.psum(x, "rows")

outer = jax.vmap(inner, axis_name="rows")

@jax.jit
def named(x, axis_name):
    return lax.psum(x, axis_name)

def library(x):
    return lax.psum(x, "elsewhere")

def build(maps):
    @jax.jit
    def evaluate(x):
        return lax.psum(x, "shard")

    return maps.xmap(fun=evaluate, in_axes=["shard", ...], out_axes=[...], axis_resources={"shard": "mp"})

def run(mesh, x):
    return jax.shard_map(lambda x: lax.psum(x, "model"), mesh=mesh, in_specs=P(), out_specs=P())(x)
