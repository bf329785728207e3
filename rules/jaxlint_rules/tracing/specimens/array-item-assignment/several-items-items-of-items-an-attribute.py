# several items, items of items, an attribute

import jax.numpy as jnp

class Buffer:
    def __init__(self, n):
        self.data = jnp.zeros(n)

    def put(self, i, value):
        self.data[i] = value  # finding

def f(gain):
    v = jnp.zeros((2, 3))
    v[0, 0], v[1, 1] = v[1, 1], gain  # finding
    v[0][1:] = gain  # finding
    return v
