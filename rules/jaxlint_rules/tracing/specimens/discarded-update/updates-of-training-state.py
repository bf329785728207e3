# updates of training state

import jax
import optax
from flax import struct
from flax.training.train_state import TrainState

@struct.dataclass
class Counter:
    steps: int

@jax.jit
def step(state: TrainState, counter: Counter, params, grads):
    state.apply_gradients(grads=grads)  # finding
    counter.replace(steps=counter.steps + 1)  # finding
    optax.apply_updates(params, grads)  # finding
    return state, counter, params
