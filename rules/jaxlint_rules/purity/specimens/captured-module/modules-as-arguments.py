# modules that are arguments, states that are, and a module that nothing trains

import jax
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
graphdef, state = nnx.split(model)
frozen = nnx.Linear(4, 4, rngs=nnx.Rngs(1))


@jax.jit
def predict(state, x):
    return nnx.merge(graphdef, state)(x)


@jax.jit
def features(x):
    return frozen(x)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    return loss


def main(batches):
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for x, y in batches:
        train_step(model, optimizer, features(x), y)
    return predict(state, x)
