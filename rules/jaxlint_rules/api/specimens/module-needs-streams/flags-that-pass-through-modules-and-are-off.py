# the same layers in evaluation, with a rate of 0, with their streams, with a key of their own, or under a test
import os
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


class Keyed(nn.Module):
    @nn.compact
    def __call__(self, x, key):
        return nn.Dropout(0.5)(nn.Dense(4)(x), deterministic=False, rng=key)


class Sometimes(nn.Module):
    noisy: bool

    @nn.compact
    def __call__(self, x, training):
        if self.noisy:
            x = nn.Dropout(0.5)(x, deterministic=not training)
        x = nn.Dropout(0.5)(x, deterministic=False) if self.noisy else x
        if not self.noisy:
            return x
        return Gate(0.5)(x)


class TwoPaths(nn.Module):
    def setup(self):
        self.gate = Gate(0.5)

    def __call__(self, x):
        return self.gate(x)

    def encode(self, x):
        return self.gate(x, True)


class Shifted(nn.Module):
    @nn.compact
    def __call__(self, x):
        def draw():
            return jax.random.normal(self.make_rng("shift"), (4,))

        shift = self.variable("shifts", "first", draw)
        drawn = self.make_rng("shift") if self.is_initializing() else None
        if self.has_rng("shift"):
            x = x + jax.random.normal(self.make_rng("shift"), x.shape)
        return x + shift.value, drawn


x = jnp.ones((3, 4))
key = jax.random.key(0)

shifted = Shifted().init({"params": key, "shift": key}, x)
print(Shifted().apply(shifted, x))
tower = Tower().init(key, x, False)
print(Tower().apply(tower, x, False))
print(Tower(rate=0.0).apply(tower, x, True))
print(Tower().apply(tower, x, True, rngs={"dropout": key}))
print(Tower().apply(tower, x, True, rngs={"params": key}))
stack = Stack().init(key, x, False)
print(Stack().apply(stack, x, False))
print(Stack().apply(stack, x, mutable=["batch_stats"]))
print(Stack().apply(stack, x, mutable=True))
print(Keyed().apply(Keyed().init(key, x, key), x, key))
model = Sometimes(noisy="NOISY" in os.environ)
print(model.apply(model.init(key, x, False), x, True))
branches = TwoPaths()
print(branches.apply(branches.init(key, x), x, method=branches.encode))
print(branches.apply(branches.init(key, x), x, method="encode"))
