# blind: ninth

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Molecules(NamedTuple):
    features: jax.Array
    graph: jax.Array


def readout(batch, weights, graphs):
    return jax.ops.segment_sum(jnp.tanh(batch.features @ weights), batch.graph, num_segments=graphs)


def patches(tokens):
    side = int(math.sqrt(tokens.shape[0]))
    return tokens.reshape(side, side, -1)


@jax.jit
def loss(weights, batch, targets):
    out = readout(batch, weights, targets.shape[0]).sum(-1)
    return jnp.mean((out - targets) ** 2) + patches(weights).sum()


if __name__ == "__main__":
    batch = Molecules(jnp.ones((6, 4)), jnp.array([0, 0, 1, 1, 1, 2]))
    print(loss(jnp.ones((4, 2)), batch, jnp.ones(3)))
