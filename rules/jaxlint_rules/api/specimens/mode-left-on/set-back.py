# modes that are set back in the loop, and evaluation once after it

import jax.numpy as jnp
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x, y):
    grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(model, grads)


def main(model, optimizer, train, test):
    for epoch in range(10):
        model.train()
        for x, y in train:
            train_step(model, optimizer, x, y)
        model.eval()
        print(epoch, [model(x) for x, _ in test])


def once(model, optimizer, train, test):
    for x, y in train:
        train_step(model, optimizer, x, y)
    model.eval()
    return [model(x) for x, _ in test]
