# a step of nnx that updates its model and its optimiser

import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.l1 = nnx.Linear(1024, 4096, rngs=rngs)
        self.l2 = nnx.Linear(4096, 1024, rngs=rngs)

    def __call__(self, x):
        return self.l2(nnx.relu(self.l1(x)))


@nnx.jit  # finding
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def eval_step(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def main(batches):
    model = MLP(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
    for x, y in batches:
        train_step(model, optimizer, x, y)
        eval_step(model, x, y)


@nnx.jit  # finding
def train_step_of_holder(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(grads)
    return loss


def train_with_holder(batches):
    model = MLP(nnx.Rngs(0))
    optimizer = nnx.ModelAndOptimizer(model, optax.adamw(1e-3))
    for x, y in batches:
        train_step_of_holder(model, optimizer, x, y)
