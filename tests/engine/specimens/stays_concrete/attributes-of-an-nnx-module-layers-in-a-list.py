# attributes of an nnx module, layers in a list
import jax
import jax.numpy as jnp
from flax import nnx

class Net(nnx.Module):
    def __init__(self, depth, rngs):
        self.depth = depth
        self.norm = depth > 2
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(depth)])

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        if self.norm:
            x = x / (1 + jnp.abs(x))
        return x

nnx.jit(lambda model, x: model(x))(Net(3, nnx.Rngs(0)), jnp.ones((1, 2)))
