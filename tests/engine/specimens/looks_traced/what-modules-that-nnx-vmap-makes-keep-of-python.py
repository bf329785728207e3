# what modules that nnx.vmap makes keep of Python
import jax.numpy as jnp
from flax import nnx

class Norm(nnx.Module):
    def __init__(self, size, scaled, rngs):
        self.scaled = scaled
        self.scale = nnx.Param(rngs.params.uniform((size,)))

    def __call__(self, x):
        if not self.scaled:
            return x
        return x * self.scale[...]

class Norms(nnx.Module):
    def __init__(self, rngs):
        @nnx.split_rngs(splits=4)
        @nnx.vmap
        def create(rngs):
            return Norm(3, True, rngs)

        self.norms = create(rngs)

    def __call__(self, x):
        return nnx.vmap(lambda norm, row: norm(row))(self.norms, x)

nnx.jit(lambda model, x: model(x))(Norms(nnx.Rngs(0)), jnp.ones((4, 3)))
