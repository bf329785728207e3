# a matrix of a static argument that the function reads itself
import functools

import jax
import jax.numpy as jnp


class Basis:
    def __init__(self, size):
        angles = jnp.arange(size) / size
        self.matrix = jnp.sin(angles[:, None] * angles)


@functools.partial(jax.jit, static_argnums=(1,))
def spectrum(u, basis):
    return jnp.abs(basis.matrix @ u)  # finding


print(spectrum(jnp.ones(1100), Basis(1100)))
