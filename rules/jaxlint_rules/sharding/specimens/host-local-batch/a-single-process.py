# a single process

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, loader, mesh):
    for batch in loader:
        state = step(state, jax.device_put(batch, NamedSharding(mesh, P("data"))))
    return state
