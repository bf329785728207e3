# shard_map of what is replicated, unchecked
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

def body(x):
    if x[0] > 0:  # finding: tracer-branch
        x = -x
    return x

f = jax.shard_map(body, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
f(jnp.ones(4))
