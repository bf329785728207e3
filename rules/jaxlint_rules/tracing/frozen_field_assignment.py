"""Assignment to attributes of frozen objects."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import FieldStoreEvent
from jaxlint_rules._reasons import guarded

_REPLACE = {
    "equinox.Module": "`eqx.tree_at(lambda m: m.{name}, {base}, value)`",
    "typing.NamedTuple": "`{base} = {base}._replace({name}=...)`",
    "flax.struct.dataclass": "`{base} = {base}.replace({name}=...)`",
    "flax.struct.PyTreeNode": "`{base} = {base}.replace({name}=...)`",
    "flax.training.train_state.TrainState": "`{base} = {base}.replace({name}=...)`",
    "chex.dataclass": "`{base} = {base}.replace({name}=...)`",
}
_ELSE = "`{base} = dataclasses.replace({base}, {name}=...)`"


class FrozenFieldAssignment(Rule):
    """An attribute of a frozen object is assigned to.

    ## What it does
    Finds `state.x = value` and `state.x += value` where `state` is an instance of a class that refuses it: a
    `flax.struct.dataclass`, a `TrainState`, an `equinox.Module` outside of its `__init__`, a `NamedTuple`, or a dataclass
    with `frozen=True`.

    ## Why is this bad?
    Such objects are immutable, so that JAX can pass them through transformations: `FrozenInstanceError`, or
    `AttributeError` for a NamedTuple, inside and outside `jit`.

    ## Example
    ```python
    @flax.struct.dataclass
    class State:
        position: jax.Array

    def step(state, dt):
        state.position = state.position + dt
        return state
    ```

    ## Use instead
    ```python
    def step(state, dt):
        return state.replace(position=state.position + dt)
    ```
    `dataclasses.replace`, `._replace` of NamedTuples and `equinox.tree_at` do the same for the others.

    ## Fix safety
    There is no automatic fix: the new object has to reach everybody who held the old one.

    ## When not to fix
    Objects that may be changed (plain dataclasses, `chex.dataclass`, modules of flax.nnx) are not reported, nor is what
    a constructor does.

    ## References
    - [JAX: custom pytree nodes](https://docs.jax.dev/en/latest/custom_pytrees.html)
    """

    code = "JAX117"
    name = "frozen-field-assignment"
    category = "tracing"
    severity = Severity.ERROR
    examples = (
        Example(
            "states, modules and records",
            """
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
""",
        ),
        Example(
            "constructors, objects that may be changed, new objects",
            """
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
""",
        ),
    )

    def on_field_store(self, event: FieldStoreEvent, report: Reporter) -> None:
        if event.frame.catching or guarded(event) or not isinstance(event.node, ast.Attribute):
            return
        base = ast.unparse(event.node.value)
        instead = _REPLACE.get(event.reason, _ELSE).format(base=base, name=event.name)
        report(
            event.node,
            f"`{base}.{event.name}` cannot be assigned to: `{event.cls.name}` is frozen; use {instead}",
            reason=f"`{event.cls.name}` is made immutable by `{event.reason}`",
        )
