# shard_map of sharded or unknown arrays, over other meshes, of whole arrays

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("rows",))
auto = jax.make_mesh((8,), ("rows",), axis_types=(AxisType.Auto,))


def double(x):
    return 2 * x


explicit = jax.shard_map(double, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"))
whole = jax.shard_map(double, mesh=mesh, in_specs=P(), out_specs=P())
automatic = jax.shard_map(double, mesh=auto, in_specs=P("rows"), out_specs=P("rows"))


def main(batch, devices):
    x = jax.device_put(jnp.ones((8, 3)), NamedSharding(mesh, P("rows")))
    made = jnp.zeros((8, 3), device=NamedSharding(mesh, P("rows")))
    old = jax.shard_map(double, mesh=Mesh(devices, ("rows",)), in_specs=P("rows"), out_specs=P("rows"))
    results = explicit(x), explicit(batch), explicit(made), explicit(x + 1.0)
    return results, whole(jnp.ones((8, 3))), automatic(jnp.ones((8, 3))), old(jnp.ones((8, 3)))
