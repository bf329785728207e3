# the size of all parts, of a dimension that is not split, over another axis

from functools import partial
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1, 1), ("data", "model"))

@partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P())
def mean(x):
    rows = jax.lax.psum(x.shape[0], "data")
    return jax.lax.psum(jnp.sum(x), "data") / rows + jax.lax.pmean(jnp.sum(x) / x.shape[0], "data")

@partial(jax.shard_map, mesh=mesh, in_specs=P("data", None), out_specs=P())
def per_column(x):
    return jax.lax.psum(jnp.sum(x), "data") / x.shape[1]

@partial(jax.shard_map, mesh=mesh, in_specs=(P("data", "model"), P("model")), out_specs=P("data"))
def product(x, w):
    return jax.lax.psum(x @ w, "model") / x.shape[0]

def host(x):
    return x.sum() / x.shape[0]
