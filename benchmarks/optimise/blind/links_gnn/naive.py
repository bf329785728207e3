"""Link prediction with GraphSAGE: neighbourhoods sampled by NumPy, so that each batch has another size."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

NODES, FEATURES, HIDDEN = 500, 24, 48


def make_graph(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 6, NODES)
    features = rng.normal(size=(6, FEATURES))[group] + 1.5 * rng.normal(size=(NODES, FEATURES))
    pairs = rng.integers(0, NODES, (12000, 2))
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    keep = (pairs[:, 0] != pairs[:, 1]) & (rng.random(len(pairs)) < np.where(same, 0.5, 0.05))
    edges = np.unique(np.sort(pairs[keep], axis=1), axis=0)
    return features.astype(np.float32), edges


class Sampler:
    """Draws links, other pairs of nodes, and the subgraph around them."""

    def __init__(self, edges, fanout, seed):
        self.edges = edges
        self.fanout = fanout
        self.rng = np.random.default_rng(seed)
        self.neighbours = [[] for _ in range(NODES)]
        for a, b in edges:
            self.neighbours[a].append(b)
            self.neighbours[b].append(a)

    def batch(self, size):
        positive = self.edges[self.rng.integers(0, len(self.edges), size)]
        negative = self.rng.integers(0, NODES, (size, 2))
        pairs = np.concatenate([positive, negative])
        labels = np.concatenate([np.ones(size), np.zeros(size)])
        seeds = np.unique(pairs)
        senders, receivers = [], []
        for node in seeds:
            known = self.neighbours[node]
            if known:
                for other in self.rng.choice(known, min(self.fanout, len(known)), replace=False):
                    senders.append(other)
                    receivers.append(node)
        nodes, where = np.unique(np.concatenate([seeds, senders]).astype(int), return_inverse=True)
        place = {n: i for i, n in enumerate(nodes)}
        return {
            "nodes": nodes,
            "senders": where[len(seeds) :],
            "receivers": np.array([place[r] for r in receivers]),
            "pairs": np.array([[place[a], place[b]] for a, b in pairs]),
            "labels": labels,
        }


def init_params(key):
    ks = jax.random.split(key, 5)
    glorot = jax.nn.initializers.glorot_normal()
    return {
        "self1": glorot(ks[0], (FEATURES, HIDDEN)),
        "near1": glorot(ks[1], (FEATURES, HIDDEN)),
        "self2": glorot(ks[2], (HIDDEN, HIDDEN)),
        "near2": glorot(ks[3], (HIDDEN, HIDDEN)),
        "score": glorot(ks[4], (HIDDEN, HIDDEN)),
    }


def sage(own, near, x, senders, receivers):
    sums = jax.ops.segment_sum(x[senders], receivers, num_segments=x.shape[0])
    counts = jax.ops.segment_sum(jnp.ones(len(senders)), receivers, num_segments=x.shape[0])
    return x @ own + (sums / jnp.maximum(counts, 1)[:, None]) @ near


def logits_fn(params, features, batch):
    x = features[batch["nodes"]]
    x = jax.nn.relu(sage(params["self1"], params["near1"], x, batch["senders"], batch["receivers"]))
    x = sage(params["self2"], params["near2"], x, batch["senders"], batch["receivers"])
    a, b = x[batch["pairs"][:, 0]], x[batch["pairs"][:, 1]]
    return jnp.sum((a @ params["score"]) * b, axis=-1)


def loss_fn(params, features, batch):
    logits = logits_fn(params, features, batch)
    return optax.sigmoid_binary_cross_entropy(logits, batch["labels"]).mean(), logits


def auc(logits, labels):
    order = np.argsort(np.asarray(logits))
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    positive = labels == 1
    return (ranks[positive].mean() - (positive.sum() + 1) / 2) / (~positive).sum()


def main():
    features, edges = make_graph(0)
    train, test = Sampler(edges[::2], 8, 1), Sampler(edges[1::2], 8, 2)
    test_batch = test.batch(200)
    params = init_params(jax.random.PRNGKey(0))
    tx = optax.adamw(3e-3, weight_decay=1e-3)
    opt_state = tx.init(params)
    step_fn = jax.value_and_grad(loss_fn, has_aux=True)
    for step in range(1, 25):
        batch = train.batch(48)
        (loss, logits), grads = step_fn(params, features, batch)
        updates, opt_state = tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        if step % 8 == 0:
            test_logits = logits_fn(params, features, test_batch)
            print(f"step {step}: loss {loss:.3f} AUC {auc(test_logits, test_batch['labels']):.3f}")


if __name__ == "__main__":
    main()
