# batches that are copied, devices in a loop

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

def train(step, state, batches, mesh):
    for batch in batches:
        state = step(state, jax.device_put(batch, NamedSharding(mesh, P())))  # finding
    return state

def pairs(step, state, batches, mesh):
    everywhere = NamedSharding(mesh, P())
    for x, y in batches:
        x, y = jax.device_put((x, y), everywhere)  # finding
        state = step(state, x, y)
    for batch in batches:
        state = step(state, jax.device_put(batch["x"], everywhere), 0)  # finding
    return state

def pmapped(step, state, batches):
    for batch in batches:
        state = step(state, jax.device_put_replicated(batch, jax.devices()))  # finding
    return state

def by_hand(f, shards):
    results = []
    for shard, device in zip(shards, jax.devices()):
        results.append(f(jax.device_put(shard, device)))  # finding
    return results
