# source: jax-ml/jax#6350
# blind: eighteenth

import dataclasses

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Graph:
    nodes: jax.Array
    senders: jax.Array
    receivers: jax.Array


def init_layer(key, d_in, d_out):
    k1, k2 = jax.random.split(key)
    return {
        "w_msg": jax.random.normal(k1, (d_in, d_out)) / d_in**0.5,
        "w_self": jax.random.normal(k2, (d_in, d_out)) / d_in**0.5,
    }


def message_pass(layer, graph):
    messages = (graph.nodes @ layer["w_msg"])[graph.senders]
    incoming = jax.ops.segment_sum(messages, graph.receivers)  # finding
    return dataclasses.replace(graph, nodes=jax.nn.relu(graph.nodes @ layer["w_self"] + incoming))


@jax.jit
def forward(layers, graph):
    for layer in layers:
        graph = message_pass(layer, graph)
    return graph.nodes.mean(axis=0)


def main():
    g = Graph(jnp.ones((5, 3)), jnp.array([0, 1, 2, 3]), jnp.array([1, 2, 3, 4]))
    keys = jax.random.split(jax.random.key(0), 2)
    layers = [init_layer(keys[0], 3, 8), init_layer(keys[1], 8, 2)]
    print(forward(layers, g))


if __name__ == "__main__":
    main()
