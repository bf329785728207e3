# a tracer in an attribute outlives the trace
import jax
import jax.numpy as jnp

class Model:
    def __init__(self):
        self.last = None
        self.step = jax.jit(self._step)

    def _step(self, x):
        self.last = x * 2  # finding: tracer-leak
        return x

Model().step(jnp.ones(3))
