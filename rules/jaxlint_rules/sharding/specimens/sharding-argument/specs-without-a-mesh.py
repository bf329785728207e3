# specs without a mesh

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(2 * x, P("data"))  # finding

def main(x):
    x = jax.device_put(x, P("data"))  # finding
    return constrained(x), mesh

step = jax.jit(lambda x: 2 * x, in_shardings=P("data"))  # finding
