# what fits, and what is not known

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import mesh_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"))
weights = jax.device_put(jnp.zeros((8, 6)), NamedSharding(mesh, P("data", "model")))
table = jax.device_put(np.zeros((8, 6)), NamedSharding(mesh, P("data", "model")))
rows = jax.device_put(jnp.zeros((16, 3)), NamedSharding(mesh, P(("data", "model"))))
devices = jax.make_mesh((jax.device_count(),), ("data",))
batch = jax.device_put(jnp.ones((6, 3)), NamedSharding(devices, P("data")))

def add(x, y, scale=1.0):
    return scale * (x + y)

def total(*xs):
    return sum(xs)

both = jax.shard_map(add, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))
flat = np.array(jax.devices())
grid = np.array(jax.devices()).reshape(-1, 2)
one = Mesh(flat, ("data",)), Mesh(flat, "data"), Mesh(grid, ("data", "model")), Mesh(mesh_utils.create_device_mesh((4, 2)), ("a", "b"))
any_number = jax.shard_map(total, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"))
numbers = jax.shard_map(lambda x: jnp.mean(x**2)[None], mesh=mesh, in_specs=P("data"), out_specs=P("data"))
columns = jax.shard_map(lambda x: jnp.sum(x, axis=0), mesh=mesh, in_specs=P(None, "data"), out_specs=P("data"))
whole = jax.shard_map(lambda x: jax.lax.pmean(x.mean(), "data"), mesh=mesh, in_specs=P("data"), out_specs=P())
for_all = jax.shard_map(add, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
