# source: google/flax#2938
# blind: seventh

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint
from jax.sharding import NamedSharding, PartitionSpec as P


class FeedForward(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4 * self.width)(x)
        h = with_sharding_constraint(h, P("data", None, "model"))  # finding
        return nn.Dense(self.width)(nn.gelu(h))


def main():
    mesh = jax.make_mesh((2, 4), ("data", "model"))
    model = FeedForward(64)
    x = jnp.ones((8, 16, 64))
    x = jax.device_put(x, NamedSharding(mesh, P("data")))
    params = jax.jit(model.init)(jax.random.key(0), x)  # finding-also

    @partial(jax.jit, out_shardings=NamedSharding(mesh, P("data")))
    def forward(params, x):
        return model.apply(params, x)

    print(forward(params, x).sharding)


if __name__ == "__main__":
    main()
