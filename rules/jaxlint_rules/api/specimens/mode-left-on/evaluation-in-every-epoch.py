# a model that is evaluated after each epoch and never set to training again

import jax.numpy as jnp
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x, y):
    grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(model, grads)


def main(model, optimizer, train, test):
    model.train()
    for epoch in range(10):
        for x, y in train:
            train_step(model, optimizer, x, y)
        model.eval()  # finding
        print(epoch, [model(x) for x, _ in test])


def every_hundred(model, optimizer, train, test):
    for step, (x, y) in enumerate(train):
        train_step(model, optimizer, x, y)
        if step % 100 == 0:
            model.eval()  # finding
            print(step, [model(x) for x, _ in test])
