# source: jax-ml/jax#8839
# blind: second

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


class Sharder:
    def __init__(self, mesh):
        self.mesh = mesh

    def rows(self, x):
        return jax.lax.with_sharding_constraint(x, NamedSharding(self.mesh, P("data", None)))


class Block(nn.Module):
    width: int
    sharder: Sharder

    @nn.compact
    def __call__(self, x):
        h = nn.gelu(nn.Dense(4 * self.width)(x))
        self.sharder.rows(h)  # finding
        return x + nn.Dense(self.width)(h)


def main():
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    model = Block(16, Sharder(mesh))
    x = jax.device_put(jnp.ones((8, 16)), NamedSharding(mesh, P("data")))
    params = model.init(jax.random.key(0), x)
    print(jax.jit(model.apply)(params, x).sharding)


if __name__ == "__main__":
    main()
