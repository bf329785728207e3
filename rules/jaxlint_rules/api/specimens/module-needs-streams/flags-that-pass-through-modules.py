# layers inside other modules, whose flags come through positions, defaults, fields, partials and loops
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp


class Gate(nn.Module):
    rate: float

    @nn.compact
    def __call__(self, x, frozen=False):
        return nn.Dropout(rate=self.rate)(nn.Dense(4)(x), frozen)


class Tower(nn.Module):
    depth: int = 2
    rate: float = 0.2

    def setup(self):
        self.gates = [Gate(self.rate) for _ in range(self.depth)]

    def __call__(self, x, training):
        for gate in self.gates:
            x = gate(x, frozen=not training)
        return x


class Unit(nn.Module):
    norm: Any

    @nn.compact
    def __call__(self, x):
        return nn.relu(self.norm()(nn.Dense(4)(x)))


class Stack(nn.Module):
    @nn.compact
    def __call__(self, x, training=True):
        norm = partial(nn.BatchNorm, use_running_average=not training)
        return Unit(norm)(Unit(norm)(x))


class Noisy(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x + jax.random.normal(self.make_rng("noise"), x.shape)


class Blurred(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Noisy()(nn.Dense(4)(x))


class Reader(nn.Module):
    @nn.compact
    def __call__(self, x, training):
        attend = nn.MultiHeadDotProductAttention(2, dropout_rate=0.1)
        return attend(x[None], deterministic=not training)


x = jnp.ones((3, 4))
key = jax.random.key(0)
for model in (Tower(), Stack(), Reader()):
    print(jax.tree.map(jnp.shape, model.init(key, x, False)))

tower = Tower().init(key, x, False)
print(Tower().apply(tower, x, True))  # finding
print(Tower(rate=0.3).apply(tower, x, training=True, rngs={"noise": key}))  # finding
stack = Stack().init(key, x, False)
print(Stack().apply(stack, x))  # finding
print(Blurred().apply(Blurred().init({"params": key, "noise": key}, x), x))  # finding
print(Reader().apply(Reader().init(key, x, False), x, True))  # finding
