# axes that are there, or not known

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def sharded(mesh):
    if "stage" in mesh.axis_names:
        return NamedSharding(mesh, P("stage"))
    return NamedSharding(mesh, P("data"))

sharded(jax.make_mesh((1,), ("data",)))

def shardings(mesh, axis):
    grid = jax.make_mesh((1, 1), ("data", "model"))
    return NamedSharding(grid, P(("data", "model"))), NamedSharding(grid, P(None, axis)), NamedSharding(mesh, P("stage"))
