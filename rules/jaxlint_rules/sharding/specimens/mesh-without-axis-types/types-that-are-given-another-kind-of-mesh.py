# types that are given, another kind of mesh, no constraint

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
old = Mesh(np.array(jax.devices()), ("data",))
explicit = jax.make_mesh((8,), ("data",))

@jax.jit
def step(x, y):
    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))
    return x, jax.lax.with_sharding_constraint(y, NamedSharding(old, P("data")))

def load(x):
    return jax.device_put(x, NamedSharding(explicit, P("data")))
