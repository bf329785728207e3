# source: jax-ml/jax#8634
# blind: twenty-first
# missed: the largest number among ids as a number of segments

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Graph(NamedTuple):
    nodes: np.ndarray
    senders: np.ndarray
    receivers: np.ndarray


def ring_graph(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    src = np.arange(n)
    dst = (src + 1) % n
    return Graph(
        nodes=rng.normal(size=(n, dim)).astype(np.float32),
        senders=np.concatenate([src, dst]),
        receivers=np.concatenate([dst, src]),
    )


def init_params(key, dim):
    k1, k2 = jax.random.split(key)
    scale = 1.0 / np.sqrt(dim).item()
    return {
        "msg": scale * jax.random.normal(k1, (dim, dim)),
        "self": scale * jax.random.normal(k2, (dim, dim)),
    }


def aggregate(messages, receivers, num_nodes):
    total = jax.ops.segment_sum(messages, receivers, num_segments=num_nodes)  # finding
    count = jax.ops.segment_sum(jnp.ones(messages.shape[0]), receivers,  # finding-also
                                num_segments=num_nodes)
    return total / jnp.maximum(count, 1.0)[:, None]


def layer(params, graph, num_nodes):
    messages = jax.nn.relu(graph.nodes[graph.senders] @ params["msg"])
    pooled = aggregate(messages, graph.receivers, num_nodes)
    return pooled


def degree(graph, num_nodes):
    ones = jnp.ones(graph.receivers.shape[0])
    return jax.ops.segment_sum(ones, graph.receivers, num_segments=num_nodes)  # finding-also


def main():
    graph = ring_graph(10, 16)
    num_nodes = int(graph.receivers.max())  # finding-also
    params = init_params(jax.random.key(0), 16)
    pooled = layer(params, graph, num_nodes)
    deg = degree(graph, num_nodes)
    readout = pooled.sum(axis=0)
    print("edges", graph.receivers.shape[0], "messages received", float(deg.sum()))
    print("readout norm", float(jnp.linalg.norm(readout)))


if __name__ == "__main__":
    main()
