# the loss given to an optimizer of flax.nnx

import jax.numpy as jnp
import optax
from flax import nnx


def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@nnx.jit
def step(model, optimizer, x, y):
    grads, value = nnx.value_and_grad(loss)(model, x, y)
    optimizer.update(model, grads)  # finding
    return value


def main(batches):
    model = nnx.Linear(4, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for x, y in batches:
        step(model, optimizer, x, y)
