# source: google/flax#2251
# blind: fifth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int
    rate: float = 0.1

    @nn.compact
    def __call__(self, x, train):
        h = nn.LayerNorm()(x)
        h = nn.Dense(4 * self.width)(h)
        h = nn.gelu(h)
        if train:  # finding-also
            h = nn.Dropout(self.rate, deterministic=False)(h)
        return x + nn.Dense(self.width)(h)


class Backbone(nn.Module):
    depth: int
    width: int

    @nn.compact
    def __call__(self, x, train):
        block = nn.remat(Block)  # finding
        for i in range(self.depth):
            x = block(self.width, name=f"block_{i}")(x, train)
        return x


if __name__ == "__main__":
    model = Backbone(2, 16)
    params = model.init(jax.random.key(0), jnp.ones((2, 16)), False)
    print(model.apply(params, jnp.ones((2, 16)), True, rngs={"dropout": jax.random.key(1)}).shape)
