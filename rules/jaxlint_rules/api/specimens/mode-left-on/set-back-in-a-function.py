# the epoch's functions set the mode back, evaluate a copy, or run once

import jax.numpy as jnp
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x, y):
    grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(model, grads)


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def run_training(self, batches):
        self.model.train()
        for x, y in batches:
            train_step(self.model, self.optimizer, x, y)

    def validate(self, batches):
        self.model.eval()
        return [self.model(x) for x, _ in batches]

    def fit(self, batches, held_out, epochs):
        for epoch in range(epochs):
            self.run_training(batches)
            print(epoch, self.validate(held_out))


def train_epoch(model, optimizer, batches):
    for x, y in batches:
        train_step(model, optimizer, x, y)


def on_a_copy(model, batches):
    model = nnx.clone(model)
    model.eval()
    return [model(x) for x, _ in batches]


def at_the_end(model, batches):
    model.eval()
    return [model(x) for x, _ in batches]


def main(model, optimizer, train, test):
    for epoch in range(10):
        train_epoch(model, optimizer, train)
        print(epoch, on_a_copy(model, test))
    print(at_the_end(model, test))
