# source: google/flax#3946
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.relu(nn.Dense(64)(x))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        for _ in range(2):
            x = nn.remat(Block, static_argnums=(2,))()(x, train)
        return nn.Dense(1)(x)


if __name__ == "__main__":
    print(Net().init(jax.random.key(0), jnp.ones((2, 8)), True).keys())
