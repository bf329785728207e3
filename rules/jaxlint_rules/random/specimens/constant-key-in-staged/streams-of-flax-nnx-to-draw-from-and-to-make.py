# streams of flax.nnx, to draw from and to make parameters of

import jax
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x, rngs=None):
        return nnx.Dropout(0.5)(self.linear(x), rngs=rngs)

@nnx.jit
def loss(model, x):
    return model(x, rngs=nnx.Rngs(dropout=0)).sum()  # finding

@nnx.jit
def block(x):
    return x + nnx.Dropout(0.1, rngs=nnx.Rngs(0))(x)  # finding

@nnx.jit
def seeded(model, x, seed):
    return model(x, rngs=nnx.Rngs(dropout=seed)).sum()

@nnx.jit
def make():
    return Net(rngs=nnx.Rngs(0))
