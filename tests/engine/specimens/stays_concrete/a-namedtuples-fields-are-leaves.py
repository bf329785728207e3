# a NamedTuple's fields are leaves
from typing import NamedTuple

import jax
import jax.numpy as jnp

class State(NamedTuple):
    x: jax.Array
    step: int = 0

@jax.jit
def advance(state: State):
    if len(state) == 2 and hasattr(state, "x"):
        state = state._replace(x=state.x + 1)
    if state.step > 1:  # finding: tracer-branch
        state = state._replace(x=state.x * 2)
    return state

advance(State(jnp.ones(2), 3))
