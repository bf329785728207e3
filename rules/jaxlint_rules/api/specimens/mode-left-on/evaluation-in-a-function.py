# functions and methods that an epoch calls switch to evaluation, and nothing switches back

import jax.numpy as jnp
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x, y):
    grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(model, grads)


def train_epoch(model, optimizer, batches):
    for x, y in batches:
        train_step(model, optimizer, x, y)


def evaluate(model, batches):
    model.eval()  # finding
    return [model(x) for x, _ in batches]


def main(model, optimizer, train, test):
    for epoch in range(10):
        train_epoch(model, optimizer, train)
        print(epoch, evaluate(model, test))


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def train_epoch(self, batches):
        for x, y in batches:
            train_step(self.model, self.optimizer, x, y)

    def validate(self, batches):
        self.model.eval()  # finding
        return [self.model(x) for x, _ in batches]

    def fit(self, batches, held_out, epochs):
        for epoch in range(epochs):
            self.train_epoch(batches)
            print(epoch, self.validate(held_out))


def accuracy(model, x, y):
    model.eval()  # finding
    return jnp.mean((model(x) > 0) == y)


def alternate(model, optimizer, train, held_out):
    for _ in range(10):
        train_step(model, optimizer, *train)
        print(accuracy(model, *held_out))
