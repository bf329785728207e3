# searches in sequences, an optimiser of one's own, and results that have a mode

from typing import NamedTuple
import jax
import jax.numpy as jnp
import optax

LEVELS = [1, 2, 4]
NAMES = ["first", "second"]

class Count(NamedTuple):
    count: jax.Array

def every(period):
    def init(params):
        return Count(jnp.zeros([], jnp.int32))

    def update(updates, state, params=None):
        if params is None:
            raise ValueError("params")
        if state.count % period == 0:  # finding
            updates = jax.tree.map(jnp.zeros_like, updates)
        return updates, Count(state.count + 1)

    return optax.GradientTransformation(init, update)

optimizer = optax.chain(optax.sgd(0.1), every(2))

@jax.jit
def step(params, state, resolution, name="second"):
    level = LEVELS.index(jnp.abs(resolution))  # finding
    place = NAMES.index(name) + (1, 2).count(params.ndim)
    smooth = jnp.convolve(params, jnp.ones(3), mode="same")
    loud = [value for value in smooth if value > 1]  # finding
    updates, state = optimizer.update(params, state, params)
    return level, place, loud, updates, state

def eager(params, state):
    return every(3).update(params, state, params)
