"""Two-tower recommendation with in-batch negatives, flax nnx."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

USERS, ITEMS, FEATURES = 600, 400, 16


class Tower(nnx.Module):
    def __init__(self, count, width, out, *, rngs):
        self.embed = nnx.Embed(count, width, rngs=rngs)
        self.first = nnx.Linear(width + FEATURES, 2 * width, rngs=rngs)
        self.norm = nnx.LayerNorm(2 * width, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.second = nnx.Linear(2 * width, out, rngs=rngs)

    def __call__(self, ids, features):
        x = jnp.concatenate([self.embed(ids), features], axis=-1)
        x = self.dropout(nnx.relu(self.norm(self.first(x))))
        x = self.second(x)
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


class TwoTower(nnx.Module):
    def __init__(self, width, out, *, rngs):
        self.user = Tower(USERS, width, out, rngs=rngs)
        self.item = Tower(ITEMS, width, out, rngs=rngs)
        self.temperature = nnx.Param(jnp.array(2.0))

    def __call__(self, users, user_features, items, item_features):
        u = self.user(users, user_features)
        i = self.item(items, item_features)
        return jnp.exp(self.temperature[...]) * u @ i.T


class Data:
    """Clicks drawn from hidden tastes."""

    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        tastes = rng.normal(size=(USERS, FEATURES))
        kinds = rng.normal(size=(ITEMS, FEATURES))
        self.user_features = (tastes + rng.normal(size=tastes.shape)).astype(np.float32)
        self.item_features = (kinds + rng.normal(size=kinds.shape)).astype(np.float32)
        self.users = rng.integers(0, USERS, count)
        scores = tastes[self.users] @ kinds.T + 2 * rng.gumbel(size=(count, ITEMS))
        self.items = scores.argmax(axis=1)

    def epoch(self, size, rng):
        order = rng.permutation(len(self.users))
        for i in range(len(order) // size):
            rows = order[i * size : (i + 1) * size]
            users, items = self.users[rows], self.items[rows]
            yield users, self.user_features[users], items, self.item_features[items]


def loss_fn(model, batch):
    logits = model(*batch)
    labels = jnp.arange(logits.shape[0])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss, logits


def train_step(model, optimizer, metrics, batch):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, batch)
    metrics.update(loss=loss, logits=logits, labels=jnp.arange(logits.shape[0]))
    optimizer.update(model, grads)


def recall(model, data, k):
    model.eval()
    items = model.item(jnp.arange(ITEMS), jnp.array(data.item_features))
    hits = 0
    for start in range(0, 512, 64):
        users = data.users[start : start + 64]
        scores = model.user(jnp.array(users), jnp.array(data.user_features[users])) @ items.T
        _, best = jax.lax.top_k(scores, k)
        hits += int((best == data.items[start : start + 64, None]).sum())
    model.train()
    return hits / 512


def main():
    data = Data(4096, 0)
    model = TwoTower(32, 32, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
    rng = np.random.default_rng(1)
    best = 0.0
    for epoch in range(3):
        for batch in data.epoch(64, rng):
            train_step(model, optimizer, metrics, batch)
        values = metrics.compute()
        metrics.reset()
        found = recall(model, data, 20)
        if found > best:
            best = found
        print(f"epoch {epoch}: loss {values['loss']:.3f} accuracy {values['accuracy']:.3f} recall {found:.3f}")
    print(f"best recall {best:.3f}")


if __name__ == "__main__":
    main()
