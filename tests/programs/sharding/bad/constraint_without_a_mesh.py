# source: jax-ml/jax#28415
# blind: ninth

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


class Mlp(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(self.width)(x))
        h = jax.lax.with_sharding_constraint(h, P("data", "model"))  # finding
        return nn.Dense(x.shape[-1])(h)


@jax.jit
def forward(params, x):
    return Mlp(64).apply(params, x)


def main():
    x = jnp.ones((8, 16))
    params = Mlp(64).init(jax.random.key(0), x)
    return forward(params, x).sum()


if __name__ == "__main__":
    print(main())
