# states, modules and records

import dataclasses
from typing import NamedTuple
import equinox as eqx
import flax.struct
import jax
from flax.training.train_state import TrainState

@flax.struct.dataclass
class State:
    position: jax.Array
    steps: int = 0

class Average(eqx.Module):
    value: jax.Array

    def push(self, x):
        self.value = 0.9 * self.value + 0.1 * x  # finding
        return self

class Particle(NamedTuple):
    mass: float

class Heavy(Particle):
    pass

@dataclasses.dataclass(frozen=True)
class Settings:
    rate: float = 0.1

@jax.jit
def step(state: State, dt):
    state.position = state.position + dt  # finding
    state.steps += 1  # finding
    return state

class LossyState(TrainState):
    losses: jax.Array

@jax.jit
def train(state: LossyState, params):
    state.params = params  # finding
    particle = Particle(1.0)
    particle.mass += 2.0  # finding
    Heavy(1.0).mass = 3.0  # finding
    settings = Settings()
    settings.rate = 0.01  # finding
    return state, particle, settings
