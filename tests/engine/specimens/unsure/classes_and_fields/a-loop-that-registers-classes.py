# a loop that registers classes
from dataclasses import dataclass, fields

import jax
import jax.numpy as jnp

def register(cls, *, meta=()):
    names = [field.name for field in fields(cls) if field.name not in meta]
    return jax.tree_util.register_dataclass(cls, data_fields=names, meta_fields=list(meta))

@dataclass(frozen=True)
class State:
    x: jax.Array

@dataclass(frozen=True)
class Carry:
    x: jax.Array

for cls in (State, Carry):
    register(cls)

@jax.jit
def doubled(state):
    return state.x * 2

doubled(State(jnp.ones(3))), doubled(Carry(jnp.ones(3)))
