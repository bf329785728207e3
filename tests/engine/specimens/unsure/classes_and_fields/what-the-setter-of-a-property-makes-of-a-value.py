# what the setter of a property makes of a value
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

class Model:
    def __init__(self, scales):
        self.scales = jnp.array(scales)

    @property
    def scales(self):
        return self._scales

    @scales.setter
    def scales(self, value):
        self._scales = np.array(value)

    @partial(jax.jit, static_argnums=0)
    def run(self, x):
        return [x * scale for scale in self.scales.diagonal().tolist()]

print(Model(np.eye(3)).run(jnp.ones(3)))
