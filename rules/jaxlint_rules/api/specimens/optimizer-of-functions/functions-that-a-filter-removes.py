# the same models, filtered here or by a helper, and functions that are static or beside the model

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Chain(eqx.Module):
    steps: tuple

    def __init__(self, width, key):
        first, last = jax.random.split(key)
        self.steps = (eqx.nn.Linear(3, width, key=first), jnp.tanh, eqx.nn.Linear(width, 1, key=last))

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Layered(eqx.Module):
    layers: list
    between: tuple = eqx.field(static=True)

    def __init__(self, key):
        self.layers = [eqx.nn.Linear(3, 3, key=key), eqx.nn.LayerNorm(3)]
        self.between = (jnp.tanh, jax.nn.relu)


class Train(eqx.Module):
    arrays: Chain
    rest: Chain


def trainable(model):
    return eqx.filter(model, eqx.is_inexact_array)


def parted(model):
    arrays, rest = eqx.partition(model, eqx.is_array)
    return Train(arrays, rest)


key = jax.random.key(0)
adam = optax.adam(1e-3)
chain = Chain(8, key)
for model in (chain, Chain(4, jax.random.key(1))):
    state = adam.init(trainable(model))
train = parted(chain)
of_arrays = adam.init(train.arrays)
again = adam.init(parted(Chain(16, jax.random.key(2))).arrays)
layered = adam.init(Layered(jax.random.key(3)))
arrays, rest = eqx.partition(chain, eqx.is_array)
shown = jax.vmap(eqx.combine(arrays, rest))(jnp.ones((2, 3)))
by_hand = adam.init([chain.steps[0], chain.steps[2]])
without_state = optax.sgd(0.1).init(chain)
