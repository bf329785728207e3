# nnx: a module's Python attributes are static
import jax
import jax.numpy as jnp
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.use_bias = True
        self.depth = 2

    def __call__(self, x):
        if self.use_bias:
            x = x + 1
        for _ in range(self.depth):
            x = x * 2
        return self.linear(x)

@nnx.jit
def forward(model, x):
    if model.use_bias:
        x = x * 2
    return model(x)

forward(Net(nnx.Rngs(0)), jnp.ones((1, 2)))
