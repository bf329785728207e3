# modules with a `forward` as in PyTorch
import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx


class Attention(eqx.Module):
    project: eqx.nn.Linear

    def __init__(self, key):
        self.project = eqx.nn.Linear(8, 8, key=key)

    def forward(self, x):
        return jax.vmap(self.project)(x)


class Block(eqx.Module):
    attention: Attention

    def __init__(self, key):
        self.attention = Attention(key)

    def __call__(self, x):
        return x + self.attention(x)  # finding


class Pool(nn.Module):
    def pool(self, x):
        return x.mean(axis=0)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Pool()(x)  # finding


class Small(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)

    def forward(self, x):
        return self.linear(x)


small = Small(nnx.Rngs(0))
out = small(jnp.ones(4))  # finding
block = Block(jax.random.key(0))
block(jnp.ones((3, 8)))
