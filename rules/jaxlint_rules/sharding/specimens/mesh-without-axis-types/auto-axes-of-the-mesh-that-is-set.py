# a spec alone over axes that are automatic in the mesh that is set

import jax
from jax.sharding import AxisType, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Explicit))
jax.set_mesh(mesh)


@jax.jit
def block(x, w):
    h = jax.lax.with_sharding_constraint(x @ w, P("data", None))
    return jax.sharding.reshard(h, P(None, "model"))
