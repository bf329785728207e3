# an optimiser of nnx

import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 1, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


def mse(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def main(batches):
    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    for step, (x, y) in enumerate(batches):
        loss, grads = nnx.value_and_grad(mse)(model, x, y)
        optimizer.update(model, grads)  # finding
        if step % 100 == 0:
            print(loss)
