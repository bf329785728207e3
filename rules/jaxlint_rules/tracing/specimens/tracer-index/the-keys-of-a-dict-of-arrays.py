# the keys of a dict of arrays

import jax
import jax.numpy as jnp

class Scaled:
    def __init__(self):
        self.scales = {"w": 2.0, "b": 1.0}

    def update(self, params, new):
        params = jax.tree.map(lambda old, new: jnp.where(old > 0, new, old), params, new)
        return sum(jnp.sum(self.scales[key] * params[key]) for key in params)

params = {"w": jnp.zeros(3), "b": jnp.ones(2)}
jax.jit(Scaled().update)(params, params)
