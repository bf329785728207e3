# an evaluation and a gather by the first process

import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec as P

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

@jax.jit
def evaluate(w, x):
    return jnp.mean((x @ w) ** 2)

def main(w, batches, held_out):
    jax.distributed.initialize()
    is_main = jax.process_index() == 0
    sharding = NamedSharding(jax.make_mesh((jax.device_count(),), ("data",)), P("data"))
    for i, batch in enumerate(batches):
        x = jax.make_array_from_process_local_data(sharding, batch)
        w = step(w, x)
        if i % 10 == 0 and jax.process_index() == 0:
            print(evaluate(w, held_out))  # finding
    if is_main:
        everything = multihost_utils.process_allgather(w)  # finding
        return everything
