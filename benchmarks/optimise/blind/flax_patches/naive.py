"""Classify 8x8 texture patches with a small MLP (flax linen + TrainState)."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state


@dataclass
class Config:
    num_classes: int = 6
    hidden: int = 96
    depth: int = 3
    batch_size: int = 64
    epochs: int = 5
    lr: float = 2e-3
    weight_decay: float = 1e-4
    seed: int = 0


class PatchNet(nn.Module):
    hidden: int
    depth: int
    num_classes: int

    @nn.compact
    def __call__(self, x):
        x = x.reshape((x.shape[0], -1))
        for _ in range(self.depth):
            x = nn.Dense(self.hidden)(x)
            x = nn.LayerNorm()(x)
            x = nn.gelu(x)
        return nn.Dense(self.num_classes)(x)


def make_data(n, num_classes, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:8, 0:8] / 8.0
    labels = rng.integers(0, num_classes, size=n)
    phase = rng.uniform(0, 2 * np.pi, size=n)
    angle = labels * np.pi / num_classes
    wave = np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy
    images = np.sin(2 * np.pi * 2 * wave + phase[:, None, None])
    images += 0.4 * rng.normal(size=images.shape)
    return images, labels


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = PatchNet(config.hidden, config.depth, config.num_classes)
        self.train_data = make_data(1024, config.num_classes, seed=1)
        self.test_data = make_data(512, config.num_classes, seed=2)
        key = jax.random.PRNGKey(config.seed)
        params = self.model.init(key, jnp.ones((1, 8, 8)))["params"]
        tx = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(config.lr, weight_decay=config.weight_decay),
        )
        self.state = train_state.TrainState.create(
            apply_fn=self.model.apply, params=params, tx=tx)
        self.grad_fn = jax.jit(jax.value_and_grad(self.loss_fn, has_aux=True))

    def loss_fn(self, params, images, labels):
        logits = self.model.apply({"params": params}, images)
        onehot = jax.nn.one_hot(labels, self.config.num_classes)
        loss = optax.softmax_cross_entropy(logits, onehot).mean()
        return loss, logits

    def train_epoch(self, epoch):
        images, labels = self.train_data
        bs = self.config.batch_size
        perm = np.random.default_rng(epoch).permutation(len(images))
        losses, accs = [], []
        for i in range(len(images) // bs):
            idx = perm[i * bs:(i + 1) * bs]
            x, y = images[idx], labels[idx]
            (loss, logits), grads = self.grad_fn(self.state.params, x, y)
            self.state = self.state.apply_gradients(grads=grads)
            losses.append(float(loss))
            accs.append(float(jnp.mean(jnp.argmax(logits, -1) == y)))
        return np.mean(losses), np.mean(accs)

    def evaluate(self):
        images, labels = self.test_data
        correct = 0
        for i in range(0, len(images), self.config.batch_size):
            x = jnp.asarray(images[i:i + self.config.batch_size])
            logits = self.state.apply_fn({"params": self.state.params}, x)
            pred = jnp.argmax(logits, axis=-1)
            correct += int((pred == labels[i:i + self.config.batch_size]).sum())
        return correct / len(images)

    def fit(self):
        for epoch in range(self.config.epochs):
            loss, acc = self.train_epoch(epoch)
            test_acc = self.evaluate()
            print(f"epoch {epoch} loss {loss:.3f} acc {acc:.2f} test {test_acc:.2f}")


if __name__ == "__main__":
    Trainer(Config()).fit()
