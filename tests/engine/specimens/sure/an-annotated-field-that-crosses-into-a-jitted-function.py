# an annotated field that crosses into a jitted function
import jax
from flax import struct

@struct.dataclass
class State:
    done: jax.Array

@jax.jit
def step(state: State):
    if state.done:  # finding: tracer-branch
        return state
    return state.replace(done=~state.done)
