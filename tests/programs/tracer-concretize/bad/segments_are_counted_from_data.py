# source: jax-ml/jax#3974
# blind: ninth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Molecules(NamedTuple):
    features: jax.Array
    graph: jax.Array


def readout(batch, weights):
    per_atom = jnp.tanh(batch.features @ weights)
    return jax.ops.segment_sum(per_atom, batch.graph)  # finding


def loss(weights, batch, targets):
    return jnp.mean((readout(batch, weights).sum(-1) - targets) ** 2)


def step(weights, batch, targets):
    return weights - 0.1 * jax.grad(loss)(weights, batch, targets)


if __name__ == "__main__":
    batch = Molecules(jnp.ones((6, 4)), jnp.array([0, 0, 1, 1, 1, 2]))
    print(jax.jit(step)(jnp.ones((4, 2)), batch, jnp.ones(3)))
