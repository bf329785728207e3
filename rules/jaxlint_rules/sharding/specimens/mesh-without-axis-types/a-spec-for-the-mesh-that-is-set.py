# a spec alone, for the mesh that the program sets, and types that are given

import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Explicit))


@jax.jit
def block(x, w):
    h = jax.lax.with_sharding_constraint(x @ w, P("data", None))  # finding
    return jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P(None, "model")))  # finding


def main(x, w):
    with jax.set_mesh(mesh):
        return block(x, w)
