# many modules of one kind

import flax.linen as nn
import jax
import jax.numpy as jnp

class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(self.width)(nn.gelu(nn.LayerNorm()(x)))

class Tower(nn.Module):
    width: int
    depth: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.depth):  # finding
            x = Block(self.width, name=f"block_{i}")(x)
        return x

class Pyramid(nn.Module):
    @nn.compact
    def __call__(self, x):
        for i in range(24):
            x = nn.Dense(8 + i)(x)
        return x

deep, shallow = Tower(8, depth=32), Tower(8)
params = deep.init(jax.random.key(0), jnp.ones((2, 8)))
forward = jax.jit(lambda p, x: (deep.apply(p, x), Pyramid().apply(p, x)))
forward(params, jnp.ones((2, 8)))
