# a cached property that the host has asked for
import functools

import flax.struct
import jax
import jax.numpy as jnp

@flax.struct.dataclass
class Input:
    text: jax.Array
    images: jax.Array

    @functools.cached_property
    def count(self):
        return self.images.shape[1]

    @property
    @jax.jit
    def tokens(self):
        return jnp.zeros((self.count,)) + self.text

given = Input(jnp.ones(3), jnp.ones((2, 3)))
print(given.count, given.tokens)
