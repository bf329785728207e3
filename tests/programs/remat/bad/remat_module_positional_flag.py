# source: google/flax#2452
# blind: first

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, deterministic: bool):
        h = nn.Dense(self.width)(nn.LayerNorm()(x))
        if not deterministic:  # finding
            h = h * 0.9
        return x + h


class Stack(nn.Module):
    depth: int
    width: int

    @nn.compact
    def __call__(self, x, deterministic: bool):
        block = nn.remat(Block)  # finding-also
        for _ in range(self.depth):
            x = block(self.width)(x, deterministic)  # finding-also
        return x


if __name__ == "__main__":
    x = jnp.ones((2, 4))
    model = Stack(2, 4)
    print(model.init_with_output(jax.random.key(0), x, True)[0].shape)
