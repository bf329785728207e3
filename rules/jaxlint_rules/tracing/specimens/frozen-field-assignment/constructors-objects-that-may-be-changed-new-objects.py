# constructors, objects that may be changed, new objects

import dataclasses
from typing import NamedTuple
import chex
import equinox as eqx
import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp
from flax import nnx

@flax.struct.dataclass
class State:
    position: jax.Array

@chex.dataclass
class Buffer:
    data: jax.Array

@dataclasses.dataclass
class Settings:
    rate: float = 0.1

class Layer(eqx.Module):
    weight: jax.Array

    def __init__(self, size):
        self.reset(size)

    def reset(self, size):
        self.weight = jnp.zeros(size)

class Counter(nnx.Module):
    def __init__(self):
        self.calls = nnx.Variable(jnp.zeros(()))
        self.last = 0

    def __call__(self, x):
        self.last = 1
        return x

class Net(nn.Module):
    width: int = 4

    def setup(self):
        self.dense = nn.Dense(self.width)
        self.build()

    def build(self):
        self.head = nn.Dense(1)

@dataclasses.dataclass(frozen=True)
class Lazy:
    size: int

    def __post_init__(self):
        object.__setattr__(self, "size", self.size + 1)

class Record(Lazy):
    pass

@dataclasses.dataclass(frozen=True)
class Spec:
    def __init__(self, rate):
        self.rate = rate

class Scaled(Spec):
    def __init__(self, rate, scale):
        super().__init__(rate)
        self.scale = scale

class Pair(NamedTuple):
    left: float
    right: float

class Chain(Pair):
    def __setstate__(self, state):
        self.links = state

def update(state: State, buffer: Buffer, settings: Settings):
    state = state.replace(position=state.position + 1.0)
    buffer.data = state.position
    settings.rate = 0.2
    record = Record(3)
    record.note = "new"
    return state, buffer, settings, Layer(3), Counter(), Net(), record
