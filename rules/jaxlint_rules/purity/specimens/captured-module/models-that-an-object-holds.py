# models that an object holds, trained under another name than the compiled function reads

import functools

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, width, rngs):
        self.inner = nnx.Linear(width, width, rngs=rngs)

    def __call__(self, x):
        return jnp.sin(self.inner(x))

    def norm(self, x):
        return jnp.sum(self(x) ** 2)


def descend(optimizer, net, x):
    grads = nnx.grad(lambda m: m.norm(x))(net)
    optimizer.update(net, grads)


@nnx.jit
def improve(net, optimizer, x):
    descend(optimizer, net, x)


class ByClosure:
    def __init__(self, net):
        self.net = net
        self.optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
        self.score = jax.jit(self._score)

    def _score(self, x):
        return jnp.mean(self.net(x))  # finding

    def fit(self, batches):
        for x in batches:
            improve(self.net, self.optimizer, x)
            print(self.score(x))


class ByStaticSelf:
    def __init__(self, width):
        self.encoder = Encoder(width, nnx.Rngs(1))
        self.optimizer = nnx.Optimizer(self.encoder, optax.sgd(0.1), wrt=nnx.Param)

    @functools.partial(jax.jit, static_argnums=0)
    def embed(self, x):
        return self.encoder(x)  # finding


def run(trainer, x):
    first = trainer.embed(x)
    improve(trainer.encoder, trainer.optimizer, x)
    return trainer.embed(x) - first


def by_method(x):
    encoder = Encoder(4, nnx.Rngs(2))
    tuned = nnx.Optimizer(encoder, optax.sgd(0.1), wrt=nnx.Param)
    energy = jax.jit(encoder.norm)  # finding
    for _ in range(3):
        improve(encoder, tuned, x)
        print(energy(x))


ones = jnp.ones((2, 4))
ByClosure(Encoder(4, nnx.Rngs(0))).fit([ones, ones])
run(ByStaticSelf(4), ones)
by_method(ones)
