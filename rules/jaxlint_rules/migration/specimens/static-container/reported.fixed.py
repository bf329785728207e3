# lists, tuples and dicts that hold modules or arrays
import jax
import jax.numpy as jnp
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.linear = nnx.Linear(width, width, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x):
        return x + self.drop(nnx.relu(self.linear(x)))


class Stack(nnx.Module):
    def __init__(self, depth, width, rngs):
        self.blocks = nnx.List([Block(width, rngs) for _ in range(depth)])
        self.norms = nnx.List(tuple(nnx.LayerNorm(width, rngs=rngs) for _ in range(depth)))

    def __call__(self, x):
        for block, norm in zip(self.blocks, self.norms):
            x = norm(block(x))
        return x


class Appended(nnx.Module):
    def __init__(self, sizes, rngs):
        self.layers = nnx.List([])
        for one, other in zip(sizes[:-1], sizes[1:]):
            self.layers.append(nnx.Linear(one, other, rngs=rngs))

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Heads(nnx.Module):
    def __init__(self, names, width, rngs):
        heads = {name: nnx.Linear(width, 1, rngs=rngs) for name in names}
        self.heads = nnx.data(heads)
        self.scales = nnx.List([jnp.ones(width), jnp.zeros(width)])

    def __call__(self, x):
        return {name: head(x * self.scales[0]) for name, head in self.heads.items()}


class Taken(nnx.Module):
    def __init__(self, blocks):
        self.blocks = nnx.List(list(blocks))

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


rngs = nnx.Rngs(0)
model = Stack(3, 8, rngs)
mlp = Appended([8, 16, 4], rngs)
heads = Heads(["a", "b"], 8, rngs)
taken = Taken([Block(8, rngs), Block(8, rngs)])
