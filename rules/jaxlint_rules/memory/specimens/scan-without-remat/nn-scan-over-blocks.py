# `nn.scan` over blocks

import flax.linen as nn
import jax

class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, _):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y)
        y = nn.gelu(nn.Dense(4 * self.width)(nn.LayerNorm()(x)))
        return x + nn.Dense(self.width)(y), None

class Model(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x):
        blocks = nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=self.depth)  # finding
        x, _ = blocks(64)(x, None)
        deep = nn.scan(Cell, variable_broadcast="params", split_rngs={"params": False})  # finding
        return deep()(x[0], x)[1]

class Cell(nn.Module):
    @nn.compact
    def __call__(self, h, x):
        h = h + x
        for _ in range(4):
            h = nn.relu(nn.Dense(64)(h))
        return h, h

@jax.jit
def step(params, x):
    return jax.grad(lambda params: Model(12).apply(params, x).mean())(params)
