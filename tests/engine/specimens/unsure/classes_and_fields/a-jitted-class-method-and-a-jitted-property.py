# a jitted class method and a jitted property
from functools import partial

import jax
import jax.numpy as jnp

class Dense:
    def __init__(self, array):
        self.array = array

    @classmethod
    @partial(jax.jit, static_argnames=["cls", "shape"])
    def made(cls, array, shape):
        return jnp.reshape(array, shape)

    @property
    @partial(jax.jit, static_argnums=0)
    def size(self):
        return 4

    def doubled(self):
        if self.size > 3:
            return self.made(self.array * 2, self.array.shape)
        return Dense.made(self.array, self.array.shape)

class Wide(Dense):
    @classmethod
    def made(cls, array, shape):
        return super().made(array, (*shape, 1))

@partial(jax.jit, static_argnames=["rows", "columns"])
def zeros(rows, columns):
    return Dense.made(jnp.zeros((rows, columns)), (rows, columns))
