# an inner function with a parameter of its own
import enum

import jax
import jax.numpy as jnp

class Dir(enum.Enum):
    UP = 0
    DOWN = 1

@jax.jit
def step(d):
    def move(d, scale):
        if d == Dir.UP:
            return jnp.ones(2) * scale
        if scale > 1:
            return jnp.zeros(2)
        return -jnp.ones(2)

    return move(Dir.UP, 1) + move(Dir.DOWN, 2) + d

step(jnp.ones(2))
