# source: jax-ml/jax#28372
# blind: sixth

"""Tensor-parallel MLP annotated inside the step."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class ShardedMLP:
    def __init__(self, mesh, dim, hidden, key):
        k1, k2 = jax.random.split(key)
        column = NamedSharding(mesh, PartitionSpec(None, "tp"))
        row = NamedSharding(mesh, PartitionSpec("tp", None))
        self.up = jax.device_put(jax.random.normal(k1, (dim, hidden)), column)
        self.down = jax.device_put(jax.random.normal(k2, (hidden, dim)), row)


@jax.jit
def apply(up, down, x):
    h = jax.nn.gelu(x @ up)
    h = with_sharding_constraint(h, PartitionSpec(None, "tp"))  # finding
    return h @ down


if __name__ == "__main__":
    mesh = Mesh(np.array(jax.devices()), ("tp",))
    mlp = ShardedMLP(mesh, 8, 32, jax.random.key(0))
    print(apply(mlp.up, mlp.down, jnp.ones((2, 8))).shape)
