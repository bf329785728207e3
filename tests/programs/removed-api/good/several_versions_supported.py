# source: waymo-research/waymax#77
# blind: second

import functools

import jax
import jax.numpy as jnp

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

if hasattr(jax, "tree") and hasattr(jax.tree, "map"):
    tree_map = jax.tree.map
else:
    tree_map = jax.tree_util.tree_map

if hasattr(jnp, "trapezoid"):
    integrate = jnp.trapezoid
else:
    integrate = jnp.trapz

P = jax.sharding.PartitionSpec


def device_of(x):
    device = x.device
    return device() if callable(device) else device


@functools.partial(jax.jit, static_argnames="size")
def average(tree, size):
    mesh = jax.make_mesh((size,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    mean = shard_map(lambda x: jax.lax.pmean(x, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())
    return tree_map(mean, tree)


def main():
    grid = jnp.linspace(0.0, 1.0, 17)
    print(integrate(grid**2, grid), device_of(grid))
    print(average({"a": jnp.arange(8.0)}, 1))


if __name__ == "__main__":
    main()
