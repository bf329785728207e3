# maps over trees of arrays, whose function gets each leaf with its own shape

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("rows", "columns"), axis_types=(AxisType.Auto, AxisType.Auto))
split = NamedSharding(mesh, P("rows", "columns"))
by_rows = NamedSharding(mesh, P("rows"))


def place(tree, sharding):
    return jax.tree.map(lambda leaf: jax.device_put(leaf, sharding), tree)


def layer():
    dense = {"weights": jnp.ones((4, 8)), "offsets": jnp.zeros(8)}
    return jax.tree.map(lambda leaf: jax.device_put(leaf, split), dense)  # finding


def pair():
    moments = (jnp.zeros((6, 4)), jnp.zeros((3, 4)))
    return jax.tree.map(lambda leaf: jax.device_put(leaf, by_rows), moments)  # finding


def single():
    return jax.tree.map(lambda leaf: jax.device_put(leaf, split), jnp.zeros(8))  # finding


def layer_that_fits():
    dense = {"weights": jnp.ones((4, 8)), "offsets": jnp.zeros(8)}
    return place(dense, by_rows)


def by_rank():
    dense = {"weights": jnp.ones((4, 8)), "offsets": jnp.zeros(8)}
    return jax.tree.map(lambda leaf: jax.device_put(leaf, split if leaf.ndim == 2 else by_rows), dense)


def beside():
    dense = {"weights": jnp.ones((4, 8)), "offsets": jnp.zeros(8)}
    return jax.tree.map(jax.device_put, dense, {"weights": split, "offsets": by_rows})


def unknown(dense):
    return jax.tree.map(lambda leaf: jax.device_put(leaf, split), dense)

