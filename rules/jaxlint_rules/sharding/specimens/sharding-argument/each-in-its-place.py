# each in its place

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))
rows = NamedSharding(mesh, P("data"))
step = jax.jit(lambda x: 2 * x, in_shardings=(rows,), out_shardings=rows)

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(2 * x, rows)

double = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
x = jax.device_put(jnp.ones(8), rows)
y = jax.device_put(jnp.ones(8), jax.devices()[0])
