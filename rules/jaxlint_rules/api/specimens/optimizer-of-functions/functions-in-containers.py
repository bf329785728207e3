# layers and functions in one list, tuple or dict of a model

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


class Heads(eqx.Module):
    table: dict

    def __init__(self, key):
        self.table = {"mean": eqx.nn.Linear(3, 1, key=key), "squash": lambda x: jnp.log1p(jnp.exp(x))}


class Pair(eqx.Module):
    chain: Chain
    scale: jax.Array


key = jax.random.key(0)
adam = optax.adam(1e-3)
chain = Chain(8, key)
state = adam.init(chain)  # finding
of_heads = adam.init(Heads(key))  # finding
of_pair = optax.adamw(1e-3).init(Pair(chain, jnp.ones(3)))  # finding
