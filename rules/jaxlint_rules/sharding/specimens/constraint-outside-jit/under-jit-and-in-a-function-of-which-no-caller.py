# under jit, and in a function of which no caller is seen

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))

@jax.jit
def step(x):
    return jax.lax.with_sharding_constraint(2 * x, NamedSharding(mesh, P("data")))

def library(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))

step(jnp.ones((8, 128)))
