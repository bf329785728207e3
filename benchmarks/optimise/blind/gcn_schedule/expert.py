# After jraph's examples/zacharys_karate.py: the graph on the device once, the learning rate an argument, one program for all steps.
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def make_graph(seed, nodes=300, classes=4):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, classes, nodes)
    senders, receivers = [], []
    for i in range(nodes):
        same = np.flatnonzero(labels == labels[i])
        for j in np.concatenate([rng.choice(same, 4), rng.randint(0, nodes, 2)]):
            senders.append(i)
            receivers.append(j)
    features = np.eye(classes)[labels] + rng.normal(size=(nodes, classes)) * 2.0
    return {"x": features, "senders": np.array(senders), "receivers": np.array(receivers), "labels": labels}


def gcn_layer(w, x, senders, receivers):
    messages = (x @ w)[senders]
    total = jax.ops.segment_sum(messages, receivers, num_segments=x.shape[0])
    degree = jax.ops.segment_sum(jnp.ones_like(senders, dtype=x.dtype), receivers, num_segments=x.shape[0])
    return total / (degree[:, None] + 1) + x @ w


def forward(params, graph):
    h = jax.nn.relu(gcn_layer(params["w1"], graph["x"], graph["senders"], graph["receivers"]))
    return gcn_layer(params["w2"], h, graph["senders"], graph["receivers"])


def loss_fn(params, graph, train_nodes):
    log_probs = jax.nn.log_softmax(forward(params, graph))
    picked = log_probs[train_nodes, graph["labels"][train_nodes]]
    return -picked.mean() + 5e-4 * sum(jnp.sum(w**2) for w in jax.tree.leaves(params))


@partial(jax.jit, donate_argnums=(0, 1))
def update(params, momentum, graph, train_nodes, lr):
    loss, grads = jax.value_and_grad(loss_fn)(params, graph, train_nodes)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - lr * m, params, momentum)
    return params, momentum, loss


@jax.jit
def accuracy(params, graph, nodes):
    predicted = jnp.argmax(forward(params, graph), axis=1)
    return (predicted[nodes] == graph["labels"][nodes]).mean()


def main():
    graph = jax.device_put(make_graph(0))
    nodes = np.random.RandomState(1).permutation(300)
    train_nodes, test_nodes = jax.device_put((nodes[:100], nodes[100:]))
    k1, k2 = jax.random.split(jax.random.PRNGKey(0))
    params = {"w1": jax.random.normal(k1, (4, 32)) * 0.3, "w2": jax.random.normal(k2, (32, 4)) * 0.2}
    momentum = jax.tree.map(jnp.zeros_like, params)
    for step in range(16):
        lr = 0.2 * 0.5 * (1 + np.cos(np.pi * step / 16))
        params, momentum, loss = update(params, momentum, graph, train_nodes, lr)
        if step % 4 == 0:
            acc = accuracy(params, graph, test_nodes)
            print(f"step {step}: loss {loss:.4f}, lr {lr:.4f}, accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
