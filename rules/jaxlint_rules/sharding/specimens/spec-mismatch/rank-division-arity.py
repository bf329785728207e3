# rank, division, arity

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import mesh_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def build(n, m):
    devices = mesh_utils.create_device_mesh((n, m))
    return Mesh(devices, ("data",))  # finding

flat = Mesh(np.array(jax.devices()), ("data", "model"))  # finding

mesh = jax.make_mesh((4, 2), ("data", "model"))
bias = jax.device_put(jnp.zeros(8), NamedSharding(mesh, P("data", "model")))  # finding
batch = jax.device_put(jnp.ones((6, 3)), NamedSharding(mesh, P("data")))  # finding
short = jax.make_mesh((4, 2), ("data",))  # finding

def add(x, y):
    return x + y

one = jax.shard_map(add, mesh=mesh, in_specs=(P("data"),), out_specs=P("data"))  # finding
rows = NamedSharding(mesh, P("data"))
few = jax.jit(add, in_shardings=(rows,))  # finding
ROWS = 30
table = jax.device_put(np.zeros((ROWS, 3), np.float32), rows)  # finding
number = jax.shard_map(lambda x: jnp.mean(x**2), mesh=mesh, in_specs=P("data"), out_specs=P("data"))  # finding
fine = jax.jit(add, in_shardings=(rows, None), out_shardings=rows)
same = jax.jit(add, in_shardings=rows)
named = jax.jit(add, in_shardings=(rows,), static_argnames="y")
