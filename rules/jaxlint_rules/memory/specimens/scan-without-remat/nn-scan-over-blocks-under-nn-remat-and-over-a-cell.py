# `nn.scan` over blocks under `nn.remat`, and over a cell

import flax.linen as nn
import jax

class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        y = nn.Dense(256)(nn.gelu(nn.Dense(64)(x)))
        return x + nn.Dense(64)(nn.gelu(y)), None

class Outer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return nn.remat(Block)()(nn.Dense(64)(x), None)

class Model(nn.Module):
    remat: bool = True

    @nn.compact
    def __call__(self, x, xs):
        block = Block
        if self.remat:
            block = nn.remat(Block, prevent_cse=False)
        blocks = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=12)
        x, _ = blocks()(x, None)
        x, _ = nn.scan(Outer, variable_axes={"params": 0}, split_rngs={"params": True}, length=12)()(x, None)
        cell = nn.scan(nn.LSTMCell, variable_broadcast="params", split_rngs={"params": False})
        return cell(64)(x, xs)[1]

@jax.jit
def step(params, x, xs):
    return jax.grad(lambda params: Model().apply(params, x, xs).mean())(params)
