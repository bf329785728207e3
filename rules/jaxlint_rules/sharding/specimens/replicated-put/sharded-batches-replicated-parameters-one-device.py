# sharded batches, replicated parameters, one device

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, batches, mesh):
    state = jax.device_put(state, NamedSharding(mesh, P()))
    for batch in batches:
        state = step(state, jax.device_put(batch, NamedSharding(mesh, P("data"))))
    return state

def restore(states, mesh):
    for name, path in states:
        params = load(path)
        yield name, jax.device_put((params, name), NamedSharding(mesh, P()))

def rates(schedule, steps, mesh):
    everywhere = NamedSharding(mesh, P())
    for step in range(steps):
        yield schedule(jax.device_put(step, everywhere))

def load(path):
    return path

def report():
    return [device.memory_stats() for device in jax.devices()]

def assembled(shape, sharding, parts):
    local = [jax.device_put(part, device) for part, device in zip(parts, jax.local_devices())]
    return jax.make_array_from_single_device_arrays(shape, sharding, local)
