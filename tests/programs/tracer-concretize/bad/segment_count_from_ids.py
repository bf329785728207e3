# source: jax-ml/jax#5266
# blind: sixth

"""Pooling a batch of graphs of different sizes."""
import jax
import jax.numpy as jnp


def mean_pool(nodes, graph_ids):
    num_graphs = int(graph_ids.max()) + 1  # finding
    total = jax.ops.segment_sum(nodes, graph_ids, num_segments=num_graphs)
    size = jax.ops.segment_sum(jnp.ones(nodes.shape[0]), graph_ids, num_segments=num_graphs)
    return total / jnp.maximum(size, 1.0)[:, None]


def predict(params, batch):
    h = jax.nn.relu(batch["nodes"] @ params["w"])
    return mean_pool(h, batch["graph_ids"]) @ params["readout"]


def loss(params, batch):
    return jnp.mean((predict(params, batch) - batch["targets"]) ** 2)


train_grad = jax.jit(jax.value_and_grad(loss))

if __name__ == "__main__":
    params = {"w": jnp.ones((3, 4)), "readout": jnp.ones(4)}
    batch = {"nodes": jnp.ones((5, 3)), "graph_ids": jnp.array([0, 0, 1, 1, 1]), "targets": jnp.ones(2)}
    print(train_grad(params, batch)[0])
