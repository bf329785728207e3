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


def embed_time(network, graph, time):
    graph = network(graph)
    graph._replace(nodes=graph.nodes + time)  # finding
    return graph


@jax.jit
def advance(state, dt):
    state.replace(time=state.time + dt)  # finding
    return state
