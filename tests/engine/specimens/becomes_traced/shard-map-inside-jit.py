# shard_map inside jit
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

def body(x):
    n = jax.lax.psum(1, "i")
    if n > 1:
        x = x / n
    if x[0] > 0:  # finding: tracer-branch
        x = -x
    return x

f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("i"), out_specs=P("i")))
f(jnp.ones(4))
