# an axis that is not there, and one named twice

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
rows = NamedSharding(mesh, P("batch", None))  # finding
grid = jax.make_mesh((1, 1), ("data", "model"))
both = NamedSharding(grid, P(("data", "stage")))  # finding
twice = NamedSharding(grid, P("data", "data"))  # finding

def sharded(mesh):
    return {"rows": NamedSharding(mesh, P("data")), "columns": NamedSharding(mesh, P("stage"))}  # finding

sharded(grid)
