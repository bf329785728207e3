# source: google/flax#3946
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(x)  # finding-also
        return nn.relu(nn.Dense(64)(x))


CheckpointedBlock = nn.remat(Block, static_argnums=(1,))  # finding


class Net(nn.Module):
    depth: int = 4

    @nn.compact
    def __call__(self, x, train):
        for _ in range(self.depth):
            x = CheckpointedBlock()(x, train)
        return nn.Dense(1)(x)


if __name__ == "__main__":
    print(jax.tree.map(jnp.shape, Net().init(jax.random.key(0), jnp.ones((2, 8)), True)["params"]).keys())
