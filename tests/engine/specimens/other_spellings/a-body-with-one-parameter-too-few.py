# a body with one parameter too few
import jax.numpy as jnp
from jax import lax

class Model:
    def body(self, carry, x):
        return carry + x, None

    def step(self, carry):
        return carry, None

    def run(self, xs):
        total, _ = lax.scan(self.body, 0.0, xs)
        return total, lax.scan(self.step, 0.0, xs)  # finding: control-flow-signature

Model().run(jnp.ones(3))
