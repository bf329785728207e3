# several items, items of items, an attribute

import jax.numpy as jnp

class Buffer:
    def __init__(self, n):
        self.data = jnp.zeros(n)

    def put(self, i, value):
        self.data = self.data.at[i].set(value)  # finding

def f(gain):
    v = jnp.zeros((2, 3))
    v = v.at[0, 0].set(v[1, 1]).at[1, 1].set(gain)  # finding
    v = v.at[0, 1:].set(gain)  # finding
    return v
