# whether there is a variable
from flax import nnx
import jax.numpy as jnp

class Norm(nnx.Module):
    def __init__(self, size: int, rngs: nnx.Rngs):
        self.scale = nnx.Param(jnp.ones(size))

    def __call__(self, x):
        return x * (self.scale.value if self.scale else 1.0)

@nnx.jit
def run(norm, x):
    return norm(x)

run(Norm(3, nnx.Rngs(0)), jnp.ones(3))
