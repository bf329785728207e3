# specs under a mesh among other contexts

import contextlib
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",))

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(2 * x, P("data"))

with (
    contextlib.nullcontext(),
    mesh,
):
    print(constrained(jnp.ones(8)))
