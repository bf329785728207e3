# source: google-deepmind/jraph#29
# blind: first

import jax
import jax.numpy as jnp
from typing import NamedTuple


class Graphs(NamedTuple):
    nodes: jax.Array
    globals_: jax.Array
    n_node: jax.Array


def broadcast_globals(graph):
    return jnp.repeat(graph.globals_, graph.n_node, axis=0)  # finding


def update(graph, w):
    features = jnp.concatenate([graph.nodes, broadcast_globals(graph)], axis=-1)
    return graph._replace(nodes=jax.nn.relu(features @ w))


apply = jax.jit(update)

if __name__ == "__main__":
    g = Graphs(jnp.ones((5, 2)), jnp.ones((2, 3)), jnp.array([2, 3]))
    print(apply(g, jnp.ones((5, 4))).nodes.shape)
