# blind: fifth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int
    rate: float = 0.1

    @nn.compact
    def __call__(self, x, train):
        h = nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x)))
        if train:
            h = nn.Dropout(self.rate, deterministic=False)(h)
        return x + nn.Dense(self.width)(h)


class Backbone(nn.Module):
    depth: int
    width: int

    @nn.compact
    def __call__(self, x, train):
        block = nn.remat(Block, static_argnums=(2,))
        for i in range(self.depth):
            x = block(self.width, name=f"block_{i}")(x, train)
        return x


if __name__ == "__main__":
    model = Backbone(2, 16)
    params = model.init(jax.random.key(0), jnp.ones((2, 16)), False)
    print(model.apply(params, jnp.ones((2, 16)), True, rngs={"dropout": jax.random.key(1)}).shape)
