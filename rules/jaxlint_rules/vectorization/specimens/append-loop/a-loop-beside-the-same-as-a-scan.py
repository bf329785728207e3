# a loop beside the same as a scan

import jax
import jax.numpy as jnp

def step(state, key):
    return state + jax.random.normal(key, state.shape), jnp.sum(state)

@jax.jit
def run(state, key, scanned=True):
    keys = jax.random.split(key, 8)
    if scanned:
        state, sums = jax.lax.scan(step, state, keys)
    else:
        collected = []
        for key in keys:
            state, one = step(state, key)
            collected.append(one)
        sums = jnp.array(collected)
    return state, sums
