# blind: twentieth

"""Graph classifier on padded batches of small graphs."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

GRAPHS, MAX_NODES, MAX_EDGES, DIM = 8, 64, 160, 16


class Batch(NamedTuple):
    nodes: np.ndarray
    graph: np.ndarray
    senders: np.ndarray
    receivers: np.ndarray
    label: np.ndarray


def make_batch(rng):
    """Padding nodes belong to graph number GRAPHS, padding edges join the last node."""
    nodes = np.zeros((MAX_NODES, 4), np.float32)
    graph = np.full(MAX_NODES, GRAPHS, np.int32)
    senders = np.full(MAX_EDGES, MAX_NODES - 1, np.int32)
    receivers = np.full(MAX_EDGES, MAX_NODES - 1, np.int32)
    label = rng.integers(0, 2, GRAPHS).astype(np.int32)
    node, edge = 0, 0
    for g in range(GRAPHS):
        size = rng.integers(4, 8)
        nodes[node:node + size] = rng.standard_normal((size, 4)) + label[g]
        graph[node:node + size] = g
        for a in range(size):
            senders[edge:edge + 2] = [node + a, node + (a + 1) % size]
            receivers[edge:edge + 2] = [node + (a + 1) % size, node + a]
            edge += 2
        node += size
    return Batch(nodes, graph, senders, receivers, label)


def init_params(key):
    k_in, k_msg, k_out = jax.random.split(key, 3)
    return {
        "inp": 0.5 * jax.random.normal(k_in, (4, DIM)),
        "msg": DIM**-0.5 * jax.random.normal(k_msg, (DIM, DIM)),
        "out": DIM**-0.5 * jax.random.normal(k_out, (DIM, 2)),
    }


def predict(params, batch):
    h = jnp.tanh(batch.nodes @ params["inp"])
    messages = (h @ params["msg"])[batch.senders]
    h = h + jnp.tanh(jax.ops.segment_sum(messages, batch.receivers, num_segments=MAX_NODES))
    total = jax.ops.segment_sum(h, batch.graph, num_segments=GRAPHS)  # finding-other
    count = jax.ops.segment_sum(jnp.ones(MAX_NODES), batch.graph, num_segments=GRAPHS)
    return (total / jnp.maximum(count, 1.0)[:, None]) @ params["out"]


def loss_fn(params, batch):
    logits = predict(params, batch)
    return optax.softmax_cross_entropy_with_integer_labels(logits, batch.label).mean()


def main(steps=80):
    rng = np.random.default_rng(0)
    params = init_params(jax.random.key(0))
    tx = optax.adam(1e-2)
    opt_state = tx.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, make_batch(rng))
    print("loss", float(loss))


if __name__ == "__main__":
    main()
