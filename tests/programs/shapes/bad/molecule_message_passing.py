# source: jax-ml/jax#6350
# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np
from typing import NamedTuple


class GraphBatch(NamedTuple):
    nodes: jax.Array
    senders: jax.Array
    receivers: jax.Array
    graph_ids: jax.Array


def random_molecules(seed, n_graphs, atoms, feat):
    rng = np.random.default_rng(seed)
    nodes = rng.normal(size=(n_graphs * atoms, feat)).astype(np.float32)
    senders, receivers = [], []
    for g in range(n_graphs):
        for a in range(atoms - 1):
            senders += [g * atoms + a, g * atoms + a + 1]
            receivers += [g * atoms + a + 1, g * atoms + a]
    ids = np.repeat(np.arange(n_graphs), atoms)
    return GraphBatch(*(jnp.asarray(a) for a in (nodes, np.array(senders), np.array(receivers), ids)))


def init(key, feat, hidden):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "msg": jax.random.normal(k1, (feat, hidden)) / feat ** 0.5,
        "upd": jax.random.normal(k2, (feat + hidden, feat)) / (feat + hidden) ** 0.5,
        "out": jax.random.normal(k3, (feat, 1)) / feat ** 0.5,
    }


def energy(params, graph, rounds):
    h = graph.nodes
    for _ in range(rounds):
        m = jax.nn.silu(h[graph.senders] @ params["msg"])
        agg = jax.ops.segment_sum(m, graph.receivers, num_segments=h.shape[0])
        h = h + jnp.tanh(jnp.concatenate([h, agg], axis=-1) @ params["upd"])
    per_atom = (h @ params["out"])[:, 0]
    return jax.ops.segment_sum(per_atom, graph.graph_ids)  # finding


def loss(params, graph, target):
    return jnp.mean((energy(params, graph, 3) - target) ** 2)


step = jax.jit(jax.value_and_grad(loss))  # finding-also


def main():
    graph = random_molecules(0, 16, 9, 12)
    params = init(jax.random.key(0), 12, 24)
    target = jax.random.normal(jax.random.key(1), (16,))
    for _ in range(20):
        value, grads = step(params, graph, target)
        params = jax.tree.map(lambda p, g: p - 1e-5 * g, params, grads)
    print("loss", float(value))


if __name__ == "__main__":
    main()
