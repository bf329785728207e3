# source: jax-ml/jax#19960
# blind: first

import jax
import jax.extend as jex
import jax.numpy as jnp
from jax import tree_util
from jax.sharding import Mesh, NamedSharding, PartitionSpec

try:
    from jax import shard_map
except ImportError:
    from jax.experimental.shard_map import shard_map

Key = jax.Array


def trapezoid(y, dx):
    return jax.scipy.integrate.trapezoid(y, dx=dx)


def soft_update(a: Key, b, tau):
    return tree_util.tree_map(lambda x, y: (1 - tau) * x + tau * y, a, b)


if __name__ == "__main__":
    mesh = Mesh(jax.devices()[:1], ("x",))
    x = jax.device_put(jnp.ones(4), NamedSharding(mesh, PartitionSpec("x")))
    print(trapezoid(x, 0.1), soft_update({"a": x}, {"a": x}, 0.1), jex.core.Primitive("p"), shard_map)
