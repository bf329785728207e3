# a cached property of an object that a trace finds
from functools import cached_property
import jax
import jax.numpy as jnp

class Bounds:
    def __init__(self, low, high):
        low, high = jnp.asarray(low), jnp.asarray(high)
        if jnp.any(low > high):
            raise ValueError("bounds")
        self.low, self.high = low, high

class Environment:
    def __init__(self, size):
        self.size = size
        self.bounds

    @cached_property
    def bounds(self):
        return Bounds(0.0, self.size)

def clip(environment, x):
    return jnp.clip(x, environment.bounds.low, environment.bounds.high)

jax.jit(clip, static_argnums=0)(Environment(3.0), 1.0)
