# a mean by shape, by len, through a variable, under pmap

from functools import partial
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))

@partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
def mean(x):
    return jax.lax.psum(jnp.sum(x), "data") / x.shape[0]  # finding

def loss(w, x, y):
    error = (x @ w - y) ** 2
    total = jax.lax.psum(error.sum(), axis_name="data")
    return total / len(y)  # finding

sharded = jax.shard_map(loss, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P())

@partial(jax.pmap, axis_name="i")
def mapped(x):
    n = x.shape[0]
    return jax.lax.psum(x.sum(), "i") / n  # finding
