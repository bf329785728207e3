# what shard_map replicates has its value outside jit
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))

def body(x, scale):
    if scale > 1:
        x = x * scale
    return x

def alone(scale):
    return 1 if scale.sum() > 0 else 2

jax.shard_map(body, mesh=mesh, in_specs=(P("i"), P()), out_specs=P("i"))(jnp.ones(4), jnp.float32(2))
jax.shard_map(lambda s: s * alone(s), mesh=mesh, in_specs=P(None), out_specs=P(None))(jnp.ones(4))
