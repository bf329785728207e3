"""Click prediction on synthetic tabular data: embeddings and a residual MLP in flax linen."""
from dataclasses import dataclass
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


@dataclass
class Config:
    vocab_sizes: tuple = (32, 32, 32, 32)
    numeric: int = 8
    embed_dim: int = 8
    width: int = 64
    blocks: int = 2
    dropout: float = 0.1
    train_rows: int = 2600
    valid_rows: int = 640
    batch_size: int = 160
    epochs: int = 3
    learning_rate: float = 3e-3
    seed: int = 0


class TrainState(train_state.TrainState):
    batch_stats: Any


class ResidualBlock(nn.Module):
    width: int
    dropout: float

    @nn.compact
    def __call__(self, x, train):
        h = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        h = nn.relu(nn.Dense(self.width)(h))
        h = nn.Dropout(self.dropout, deterministic=not train)(h)
        return x + nn.Dense(self.width)(h)


class ClickModel(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, categories, numbers, train):
        parts = [numbers]
        for i, size in enumerate(self.config.vocab_sizes):
            parts.append(nn.Embed(size, self.config.embed_dim)(categories[:, i]))
        x = nn.Dense(self.config.width)(jnp.concatenate(parts, axis=-1))
        for _ in range(self.config.blocks):
            x = ResidualBlock(self.config.width, self.config.dropout)(x, train)
        return nn.Dense(1)(nn.relu(x))[:, 0]


def make_data(config):
    rng = np.random.default_rng(config.seed)
    n = config.train_rows + config.valid_rows
    categories = np.stack([rng.integers(0, v, size=n) for v in config.vocab_sizes], axis=1).astype(np.int32)
    numbers = rng.normal(size=(n, config.numeric)).astype(np.float32)
    effects = [rng.normal(size=v) for v in config.vocab_sizes]
    logit = sum(e[categories[:, i]] for i, e in enumerate(effects))
    logit = logit + numbers[:, 0] * effects[0][categories[:, 0]] + np.sin(2 * numbers[:, 1]) - 0.5
    clicks = (rng.random(n) < 1 / (1 + np.exp(-1.5 * logit))).astype(np.float32)
    split = config.train_rows
    return (categories[:split], numbers[:split], clicks[:split]), (categories[split:], numbers[split:], clicks[split:])


def auc(scores, labels):
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    positives = labels.sum()
    return (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(labels) - positives))


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = ClickModel(config)
        self.key, init_key = jax.random.split(jax.random.key(config.seed))
        variables = self.model.init(
            init_key, jnp.zeros((1, len(config.vocab_sizes)), jnp.int32), jnp.zeros((1, config.numeric)), train=False
        )
        steps = config.epochs * (config.train_rows // config.batch_size)
        schedule = optax.cosine_decay_schedule(config.learning_rate, steps)
        tx = optax.adam(schedule)
        self.state = TrainState.create(
            apply_fn=self.model.apply, params=variables["params"], tx=tx, batch_stats=variables["batch_stats"]
        )

    def train_step(self, categories, numbers, clicks):
        self.key, dropout_key = jax.random.split(self.key)

        def loss_fn(params):
            logits, updates = self.model.apply(
                {"params": params, "batch_stats": self.state.batch_stats},
                categories, numbers, train=True, rngs={"dropout": dropout_key}, mutable=["batch_stats"],
            )
            return optax.sigmoid_binary_cross_entropy(logits, clicks).mean(), updates

        (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(self.state.params)
        self.state = self.state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"])
        return float(loss)

    def evaluate(self, data):
        categories, numbers, clicks = data
        losses, scores = [], []
        variables = {"params": self.state.params, "batch_stats": self.state.batch_stats}
        for i in range(0, len(clicks), self.config.batch_size):
            stop = i + self.config.batch_size
            logits = self.model.apply(variables, categories[i:stop], numbers[i:stop], train=False)
            losses.extend(np.asarray(optax.sigmoid_binary_cross_entropy(logits, clicks[i:stop])))
            scores.extend(np.asarray(logits))
        return float(np.mean(losses)), auc(np.array(scores), clicks)

    def fit(self, train, valid):
        rng = np.random.default_rng(self.config.seed + 1)
        size = self.config.batch_size
        for epoch in range(self.config.epochs):
            order = rng.permutation(len(train[2]))
            losses = []
            for i in range(0, len(order) - size + 1, size):
                rows = order[i : i + size]
                losses.append(self.train_step(train[0][rows], train[1][rows], train[2][rows]))
            valid_loss, valid_auc = self.evaluate(valid)
            print(f"epoch {epoch + 1}: train loss {np.mean(losses):.3g}, valid loss {valid_loss:.3g}, auc {valid_auc:.3f}")


def main():
    config = Config()
    train, valid = make_data(config)
    Trainer(config).fit(train, valid)


if __name__ == "__main__":
    main()
