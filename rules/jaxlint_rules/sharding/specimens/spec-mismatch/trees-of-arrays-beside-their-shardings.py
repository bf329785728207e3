# trees of arrays beside their shardings, and arguments beside in_shardings

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
rows = NamedSharding(mesh, P("data"))
whole = NamedSharding(mesh, P())

def shard(batch):
    return jax.device_put(batch, NamedSharding(mesh, P("data")))  # finding

x = jnp.ones((30, 16))
shard((x, x[:, 0]))
params = {"w": jnp.ones((32, 3)), "b": jnp.ones(3)}
params = jax.device_put(params, {"w": rows, "b": whole})
swapped = jax.device_put(params, device={"w": whole, "b": rows})  # finding
step = jax.jit(lambda params, x: x, in_shardings=({"w": rows, "b": whole}, rows))
step(params, x)  # finding
step(params, jnp.ones((8, 2)))
double = jax.jit(lambda x: 2 * x, in_shardings=rows)
double(x)  # finding
double(jnp.ones((8, 3)))

@jax.jit
def constrained(x):
    return jax.lax.with_sharding_constraint(x * 2, rows)  # XLA pads

constrained(x)
