"""Classify the papers of a synthetic citation graph with a graph attention network."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    papers: int = 240
    topics: int = 5
    citations: int = 4
    features: int = 40
    hidden: int = 8
    heads: int = 2
    dropout: float = 0.3
    labelled_per_topic: int = 8
    epochs: int = 36
    learning_rate: float = 2e-2
    weight_decay: float = 5e-4
    report_every: int = 6
    seed: int = 4


def make_graph(config):
    rng = np.random.default_rng(config.seed)
    topics = rng.integers(0, config.topics, size=config.papers)
    words = rng.random((config.topics, config.features)) < 0.3
    noise = rng.random((config.papers, config.features))
    features = np.where(words[topics], noise < 0.3, noise < 0.12).astype(np.float32)
    edges = [(i, i) for i in range(config.papers)]
    for i in range(config.papers):
        same = np.flatnonzero(topics == topics[i])
        for _ in range(config.citations):
            j = rng.choice(same) if rng.random() < 0.75 else rng.integers(config.papers)
            edges += [(i, j), (j, i)]
    edges = np.array(sorted(set(edges)))
    train = np.zeros(config.papers, bool)
    for topic in range(config.topics):
        members = np.flatnonzero(topics == topic)
        train[rng.choice(members, size=config.labelled_per_topic, replace=False)] = True
    valid = np.zeros(config.papers, bool)
    valid[rng.choice(np.flatnonzero(~train), size=60, replace=False)] = True
    test = ~train & ~valid
    return features, topics, edges[:, 0], edges[:, 1], (train, valid, test)


def glorot(key, shape):
    return jax.random.normal(key, shape) * jnp.sqrt(2.0 / (shape[0] + shape[-1]))


class AttentionHead:
    def __init__(self, inputs, outputs, dropout):
        self.inputs, self.outputs, self.dropout = inputs, outputs, dropout

    def init(self, key):
        k1, k2, k3 = jax.random.split(key, 3)
        return {
            "w": glorot(k1, (self.inputs, self.outputs)),
            "source": 0.3 * jax.random.normal(k2, (self.outputs,)),
            "target": 0.3 * jax.random.normal(k3, (self.outputs,)),
        }

    def __call__(self, params, x, source, target, key=None):
        n = x.shape[0]
        h = x @ params["w"]
        scores = jax.nn.leaky_relu((h @ params["source"])[source] + (h @ params["target"])[target], 0.2)
        highest = jax.ops.segment_max(scores, target, num_segments=n)
        weights = jnp.exp(scores - highest[target])
        weights = weights / jax.ops.segment_sum(weights, target, num_segments=n)[target]
        if key is not None:
            keep = jax.random.bernoulli(key, 1 - self.dropout, weights.shape)
            weights = jnp.where(keep, weights / (1 - self.dropout), 0.0)
        return jax.ops.segment_sum(weights[:, None] * h[source], target, num_segments=n)


class GraphAttentionNetwork:
    def __init__(self, config):
        self.config = config
        self.first = [AttentionHead(config.features, config.hidden, config.dropout) for _ in range(config.heads)]
        self.second = AttentionHead(config.hidden * config.heads, config.topics, config.dropout)

    def init(self, key):
        keys = jax.random.split(key, self.config.heads + 1)
        return {
            "first": [head.init(k) for head, k in zip(self.first, keys)],
            "second": self.second.init(keys[-1]),
            "bias": jnp.zeros(self.config.topics),
        }

    def __call__(self, params, x, source, target, key=None):
        heads = self.config.heads
        keys = [None] * (heads + 1) if key is None else list(jax.random.split(key, heads + 1))
        outputs = [h(p, x, source, target, k) for h, p, k in zip(self.first, params["first"], keys)]
        x = jax.nn.elu(jnp.concatenate(outputs, axis=-1))
        return self.second(params["second"], x, source, target, keys[-1]) + params["bias"]


def main():
    config = Config()
    features, topics, source, target, (train, valid, test) = make_graph(config)
    x = jnp.asarray(features / features.sum(axis=1, keepdims=True).clip(1))
    print(f"{config.papers} papers, {len(source)} edges, {train.sum()} labelled")
    model = GraphAttentionNetwork(config)
    key, init_key = jax.random.split(jax.random.key(config.seed))
    params = model.init(init_key)
    tx = optax.adamw(config.learning_rate, weight_decay=config.weight_decay)
    opt_state = tx.init(params)

    def masked_loss(logits, mask):
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, topics)
        return jnp.sum(losses * mask) / mask.sum()

    def loss_fn(params, key):
        return masked_loss(model(params, x, source, target, key), train)

    def accuracy(logits, mask):
        return float(jnp.mean(logits.argmax(-1)[mask] == topics[mask]))

    best_valid, best_test = 0.0, 0.0
    for epoch in range(1, config.epochs + 1):
        key, dropout_key = jax.random.split(key)
        loss, grads = jax.value_and_grad(loss_fn)(params, dropout_key)
        updates, opt_state = tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        logits = model(params, x, source, target)
        valid_loss, valid_accuracy = float(masked_loss(logits, valid)), accuracy(logits, valid)
        if valid_accuracy > best_valid:
            best_valid, best_test = valid_accuracy, accuracy(logits, test)
        if epoch % config.report_every == 0:
            print(f"epoch {epoch}: train loss {float(loss):.3g}, valid loss {valid_loss:.3g}, valid accuracy {valid_accuracy:.3f}")
    print(f"best valid accuracy {best_valid:.3f}, test accuracy there {best_test:.3f}")


if __name__ == "__main__":
    main()
