# specs under a mesh that is set

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(2 * x, P("data"))

with jax.set_mesh(mesh):
    print(constrained(jax.device_put(jnp.ones(8), P("data"))))
