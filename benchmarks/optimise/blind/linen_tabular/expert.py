"""Click prediction on synthetic tabular data: embeddings and a residual MLP in flax linen."""
from dataclasses import dataclass
from functools import partial
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


def make_functions(model, config):
    def train_step(data, carry, rows):
        state, key = carry
        key, dropout_key = jax.random.split(key)
        categories, numbers, clicks = (column[rows] for column in data)

        def loss_fn(params):
            logits, updates = model.apply(
                {"params": params, "batch_stats": state.batch_stats},
                categories, numbers, train=True, rngs={"dropout": dropout_key}, mutable=["batch_stats"],
            )
            return optax.sigmoid_binary_cross_entropy(logits, clicks).mean(), updates

        (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
        return (state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"]), key), loss

    @partial(jax.jit, donate_argnums=(0, 1))
    def train_epoch(state, key, data, order, valid):
        (state, key), losses = jax.lax.scan(partial(train_step, data), (state, key), order)
        categories, numbers, clicks = valid
        logits = model.apply({"params": state.params, "batch_stats": state.batch_stats}, categories, numbers, train=False)
        valid_loss = optax.sigmoid_binary_cross_entropy(logits, clicks).mean()
        return state, key, losses.mean(), valid_loss, logits

    @jax.jit
    def init(seed_key):
        key, init_key = jax.random.split(seed_key)
        variables = model.init(
            init_key, jnp.zeros((1, len(config.vocab_sizes)), jnp.int32), jnp.zeros((1, config.numeric)), train=False
        )
        steps = config.epochs * (config.train_rows // config.batch_size)
        schedule = optax.cosine_decay_schedule(config.learning_rate, steps)
        tx = optax.adam(schedule)
        return key, TrainState.create(
            apply_fn=model.apply, params=variables["params"], tx=tx, batch_stats=variables["batch_stats"]
        )

    return init, train_epoch


def main():
    config = Config()
    train, valid = make_data(config)
    init, train_epoch = make_functions(ClickModel(config), config)
    key, state = init(jax.random.key(config.seed))
    train, valid_device = jax.device_put((train, valid))
    rng = np.random.default_rng(config.seed + 1)
    size = config.batch_size
    steps = config.train_rows // size
    for epoch in range(config.epochs):
        order = rng.permutation(config.train_rows)[: steps * size].reshape(steps, size)
        state, key, loss, valid_loss, logits = train_epoch(state, key, train, order, valid_device)
        valid_auc = auc(np.asarray(logits), valid[2])
        print(f"epoch {epoch + 1}: train loss {loss:.3g}, valid loss {valid_loss:.3g}, auc {valid_auc:.3f}")


if __name__ == "__main__":
    main()
