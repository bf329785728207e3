# names, specs and shardings in each other's places

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))
rows = NamedSharding(P("data"), mesh)  # finding
step = jax.jit(lambda x: 2 * x, in_shardings=("data",))  # finding

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(2 * x, "data")  # finding

double = jax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=NamedSharding(mesh, P("data")), out_specs=P("data"))  # finding
triple = jax.shard_map(lambda x: 3 * x, mesh, P("data"), P("data"))  # finding
