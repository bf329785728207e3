# blind: every clause

from functools import partial

import jax
import jax.numpy as jnp


class Model:
    def __init__(self):
        self.beta = 1.0

    @partial(jax.jit, static_argnums=0)
    def energy(self, x):
        return self.beta * jnp.sum(x ** 2)  # finding


m = Model()
for beta in (1.0, 2.0):
    m.beta = beta  # finding-also
    print(m.energy(jnp.ones(2)))
