# a constraint over a mesh with default types

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",))
rows = NamedSharding(mesh, P("data"))

@jax.jit
def step(x):
    return jax.lax.with_sharding_constraint(x, rows)  # finding
