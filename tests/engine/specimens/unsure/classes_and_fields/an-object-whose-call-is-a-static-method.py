# an object whose call is a static method
import jax
import jax.numpy as jnp

class Norm:
    def __init__(self, scale):
        self.scale = scale

    @staticmethod
    @jax.jit
    def __call__(x):
        return jnp.sum(jnp.abs(x))

def run(x):
    return Norm(2.0)(x), jax.grad(Norm(3.0))(x)
