# device_put of each batch

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, loader):
    jax.distributed.initialize()
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    sharding = NamedSharding(mesh, P("data"))
    for batch in loader:
        state = step(state, jax.device_put(batch, sharding))  # finding
    return state
