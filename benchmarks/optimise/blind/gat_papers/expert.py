"""Classify the papers of a synthetic citation graph with a graph attention network."""
from dataclasses import dataclass
from functools import partial

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


class AttentionLayer:
    """All heads of a layer at once."""

    def __init__(self, inputs, outputs, heads, dropout):
        self.inputs, self.outputs, self.heads, self.dropout = inputs, outputs, heads, dropout

    def init(self, keys):
        def head(key):
            k1, k2, k3 = jax.random.split(key, 3)
            return {
                "w": glorot(k1, (self.inputs, self.outputs)),
                "source": 0.3 * jax.random.normal(k2, (self.outputs,)),
                "target": 0.3 * jax.random.normal(k3, (self.outputs,)),
            }

        return jax.vmap(head)(keys)

    def __call__(self, params, x, source, target, keys=None):
        """Returns nodes x heads x outputs."""
        n = x.shape[0]
        h = jnp.einsum("ni,hio->nho", x, params["w"])
        from_source = jnp.einsum("nho,ho->nh", h, params["source"])
        from_target = jnp.einsum("nho,ho->nh", h, params["target"])
        scores = jax.nn.leaky_relu(from_source[source] + from_target[target], 0.2)
        highest = jax.ops.segment_max(scores, target, num_segments=n)
        weights = jnp.exp(scores - highest[target])
        weights = weights / jax.ops.segment_sum(weights, target, num_segments=n)[target]
        if keys is not None:
            keep = jax.vmap(lambda key: jax.random.bernoulli(key, 1 - self.dropout, (len(source),)), out_axes=1)(keys)
            weights = jnp.where(keep, weights / (1 - self.dropout), 0.0)
        return jax.ops.segment_sum(weights[:, :, None] * h[source], target, num_segments=n)


class GraphAttentionNetwork:
    def __init__(self, config):
        self.config = config
        self.first = AttentionLayer(config.features, config.hidden, config.heads, config.dropout)
        self.second = AttentionLayer(config.hidden * config.heads, config.topics, 1, config.dropout)

    def init(self, key):
        heads = self.config.heads
        keys = jax.random.split(key, heads + 1)
        return {
            "first": self.first.init(keys[:heads]),
            "second": self.second.init(keys[heads:]),
            "bias": jnp.zeros(self.config.topics),
        }

    def __call__(self, params, x, source, target, key=None):
        heads = self.config.heads
        keys = (None, None) if key is None else jnp.split(jax.random.split(key, heads + 1), [heads])
        x = self.first(params["first"], x, source, target, keys[0])
        x = jax.nn.elu(x.reshape(x.shape[0], -1))
        return self.second(params["second"], x, source, target, keys[1])[:, 0] + params["bias"]


def main():
    config = Config()
    features, topics, source, target, (train, valid, test) = make_graph(config)
    x = jnp.asarray(features / features.sum(axis=1, keepdims=True).clip(1))
    print(f"{config.papers} papers, {len(source)} edges, {train.sum()} labelled")
    model = GraphAttentionNetwork(config)
    key, init_key = jax.random.split(jax.random.key(config.seed))
    params = jax.jit(model.init)(init_key)
    tx = optax.adamw(config.learning_rate, weight_decay=config.weight_decay)
    def masked_loss(logits, mask):
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, topics)
        return jnp.sum(losses * mask) / mask.sum()

    def loss_fn(params, key):
        return masked_loss(model(params, x, source, target, key), train)

    def accuracy(logits, mask):
        return jnp.sum((logits.argmax(-1) == topics) & mask) / mask.sum()

    @partial(jax.jit, donate_argnums=0)
    def train_block(carry):
        def step(carry, _):
            params, opt_state, key, best_valid, best_test = carry
            key, dropout_key = jax.random.split(key)
            loss, grads = jax.value_and_grad(loss_fn)(params, dropout_key)
            updates, opt_state = tx.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            logits = model(params, x, source, target)
            valid_accuracy = accuracy(logits, valid)
            better = valid_accuracy > best_valid
            best_test = jnp.where(better, accuracy(logits, test), best_test)
            best_valid = jnp.where(better, valid_accuracy, best_valid)
            return (params, opt_state, key, best_valid, best_test), (loss, masked_loss(logits, valid), valid_accuracy)

        carry, metrics = jax.lax.scan(step, carry, None, length=config.report_every)
        return carry, jax.tree.map(lambda m: m[-1], metrics)

    carry = (params, jax.jit(tx.init)(params), key, jnp.zeros(()), jnp.zeros(()))
    for epoch in range(config.report_every, config.epochs + 1, config.report_every):
        carry, (loss, valid_loss, valid_accuracy) = train_block(carry)
        print(f"epoch {epoch}: train loss {loss:.3g}, valid loss {valid_loss:.3g}, valid accuracy {valid_accuracy:.3f}")
    best_valid, best_test = carry[-2:]
    print(f"best valid accuracy {best_valid:.3f}, test accuracy there {best_test:.3f}")


if __name__ == "__main__":
    main()
