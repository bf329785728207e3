# source: jax-ml/jax#3670

import jax
import jax.numpy as jnp


def segment_ids(n_node):
    return jnp.repeat(jnp.arange(n_node.shape[0]), n_node)  # finding


def pool(node_features, n_node):
    ids = segment_ids(n_node)
    total = jax.ops.segment_sum(node_features, ids, num_segments=n_node.shape[0])
    return total / n_node[:, None]


def loss(params, graph, targets):
    nodes = jnp.tanh(graph["nodes"] @ params["w"])
    pooled = pool(nodes, graph["n_node"])
    return jnp.mean((pooled @ params["out"] - targets) ** 2)


train_grad = jax.jit(jax.grad(loss))

if __name__ == "__main__":
    graph = {"nodes": jnp.ones((7, 3)), "n_node": jnp.array([3, 4])}
    params = {"w": jnp.ones((3, 5)), "out": jnp.ones(5)}
    print(train_grad(params, graph, jnp.zeros(2))["out"])
