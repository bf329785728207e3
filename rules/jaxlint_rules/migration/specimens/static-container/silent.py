# containers that flax wraps or accepts
from dataclasses import dataclass

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx


class Wrapped(nnx.Module):
    sizes: list
    kept: nnx.Data[list]

    def __init__(self, depth, width, rngs):
        self.blocks = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(depth)])
        self.heads = nnx.Dict({"mean": nnx.Linear(width, 1, rngs=rngs)})
        self.pair = nnx.data([nnx.Linear(width, width, rngs=rngs)])
        self.kept = [nnx.Linear(width, width, rngs=rngs)]
        self.sizes = [width, width]
        self.functions = [nnx.relu, jnp.tanh]
        self.names = ("a", "b")
        layers = nnx.List([])
        for _ in range(depth):
            layers.append(nnx.Linear(width, width, rngs=rngs))
        self.layers = layers
        made = [nnx.Linear(width, width, rngs=rngs), nnx.relu]
        self.whole = nnx.Sequential(*made)
        self.empty = []


class Given(nnx.Module):
    def __init__(self, blocks):
        self.blocks = blocks  # the caller may pass an nnx.List


class NoTree(nnx.Module, pytree=False):
    def __init__(self, width, rngs):
        self.blocks = [nnx.Linear(width, width, rngs=rngs)]


class Linen(nn.Module):
    def setup(self):
        self.layers = [nn.Dense(4) for _ in range(3)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Equinox(eqx.Module):
    layers: list

    def __init__(self, key):
        self.layers = [eqx.nn.Linear(4, 4, key=key)]


class Trainer:
    def __init__(self, rngs):
        self.models = [nnx.Linear(4, 4, rngs=rngs)]


wrapped = Wrapped(2, 8, nnx.Rngs(0))
given = Given(nnx.List([nnx.Linear(8, 8, rngs=nnx.Rngs(1))]))
plain = NoTree(4, nnx.Rngs(0))
