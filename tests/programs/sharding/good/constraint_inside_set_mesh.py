# source: google/flax#2938
# blind: seventh

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint
from jax.sharding import AxisType, PartitionSpec as P


class FeedForward(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4 * self.width)(x)
        h = with_sharding_constraint(h, P("data", None, "model"))
        return nn.Dense(self.width)(nn.gelu(h))


def main():
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
    model = FeedForward(64)
    with jax.set_mesh(mesh):
        x = jax.device_put(jnp.ones((8, 16, 64)), jax.NamedSharding(mesh, P("data")))
        params = jax.jit(model.init)(jax.random.key(0), x)
        forward = jax.jit(model.apply)
        print(forward(params, x).sharding)


if __name__ == "__main__":
    main()
