# a bound method that is rebound to its jitted self
import jax
import jax.numpy as jnp

class Trainer:
    def __init__(self, scale):
        self.scale = scale
        self._update = jax.jit(self._update)

    def _update(self, params, grads):
        if self.scale > 1:
            grads = grads * self.scale
        if grads.max() > 5:  # finding: tracer-branch
            grads = grads / 2
        return params - grads

Trainer(2.0)._update(jnp.ones(2), jnp.ones(2))
