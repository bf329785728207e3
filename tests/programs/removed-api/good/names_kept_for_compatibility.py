# source: RobertTLange/gymnax#27
# blind: sixth

"""Works with old and new JAX."""
import jax
import jax.numpy as jnp

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

if hasattr(jax, "tree"):
    tree_map = jax.tree.map
else:
    tree_map = jax.tree_util.tree_map


def scale(params, factor):
    return tree_map(lambda p: factor * p, params)


def bounded(x):
    return jnp.clip(x, min=-1.0, max=1.0)


if __name__ == "__main__":
    print(scale({"w": jnp.ones(2)}, 0.5), bounded(jnp.arange(3.0)), shard_map is not None)
