# within the axis, by slices, or unknown

import jax.numpy as jnp

states = jnp.zeros((100, 6))
first, last, also = states[0], states[99], states[-100]
tail = states[100:]
corner = states[..., 5]
kept = states.at[200].set(0.0, mode="drop")

def row(states, i):
    if states.shape[0] > 7:
        return states[7]
    return states[i]

row(jnp.zeros((3, 2)), 1)
