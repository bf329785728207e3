# a model that is evaluated in training mode: never switched, or switched back too early
import jax.numpy as jnp
import optax
from flax import nnx


class Tagger(nnx.Module):
    def __init__(self, width, rngs):
        self.inner = nnx.Linear(width, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.out = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.norm(self.inner(x))))


def squared_error(tagger, x, y):
    return jnp.mean((tagger(x) - y) ** 2)


@nnx.jit
def improve(tagger, optimizer, x, y):
    grads = nnx.grad(squared_error)(tagger, x, y)
    optimizer.update(tagger, grads)


@nnx.jit
def validation_error(tagger, x, y):
    return squared_error(tagger, x, y)


class Trainer:
    def __init__(self, width):
        self.tagger = Tagger(width, nnx.Rngs(0))
        self.optimizer = nnx.Optimizer(self.tagger, optax.sgd(0.1), wrt=nnx.Param)

    def fit(self, x, y, steps):
        for _ in range(steps):
            improve(self.tagger, self.optimizer, x, y)
        return validation_error(self.tagger, x, y)  # finding


def two_phases(x, y):
    tagger = Tagger(4, nnx.Rngs(1))
    optimizer = nnx.Optimizer(tagger, optax.sgd(0.1), wrt=nnx.Param)
    improve(tagger, optimizer, x, y)
    tagger.eval()
    before = validation_error(tagger, x, y)
    tagger.train()
    improve(tagger, optimizer, x, y)
    return before - validation_error(tagger, x, y)  # finding


x = jnp.ones((8, 4))
print(Trainer(4).fit(x, 1.0, 3), two_phases(x, 1.0))
