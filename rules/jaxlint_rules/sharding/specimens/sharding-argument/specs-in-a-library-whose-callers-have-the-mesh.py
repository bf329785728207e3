# specs in a library, whose callers have the mesh

import jax
from jax.sharding import PartitionSpec as P

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(2 * x, P("data"))
