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
        as32 = lambda data: (jnp.asarray(data[0], jnp.float32), jnp.asarray(data[1], jnp.int32))
        self.train_data = as32(make_data(1024, config.num_classes, seed=1))
        self.test_data = as32(make_data(512, config.num_classes, seed=2))
        tx = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(config.lr, weight_decay=config.weight_decay),
        )

        def create(key):
            params = self.model.init(key, jnp.ones((1, 8, 8)))["params"]
            return train_state.TrainState.create(
                apply_fn=self.model.apply, params=params, tx=tx)

        self.state = jax.jit(create)(jax.random.PRNGKey(config.seed))
        self.run_epoch = jax.jit(self._run_epoch, donate_argnums=0)

    def loss_fn(self, params, images, labels):
        logits = self.model.apply({"params": params}, images)
        onehot = jax.nn.one_hot(labels, self.config.num_classes)
        loss = optax.softmax_cross_entropy(logits, onehot).mean()
        return loss, logits

    def _run_epoch(self, state, train, test, order):
        def step(state, idx):
            x, y = train[0][idx], train[1][idx]
            (loss, logits), grads = jax.value_and_grad(self.loss_fn, has_aux=True)(
                state.params, x, y)
            acc = jnp.mean(jnp.argmax(logits, -1) == y)
            return state.apply_gradients(grads=grads), (loss, acc)

        state, (losses, accs) = jax.lax.scan(step, state, order)
        logits = self.model.apply({"params": state.params}, test[0])
        test_acc = jnp.mean(jnp.argmax(logits, -1) == test[1])
        return state, losses.mean(), accs.mean(), test_acc

    def fit(self):
        n, bs = len(self.train_data[0]), self.config.batch_size
        for epoch in range(self.config.epochs):
            perm = np.random.default_rng(epoch).permutation(n)
            order = perm[:n // bs * bs].reshape(-1, bs)
            self.state, *metrics = self.run_epoch(
                self.state, self.train_data, self.test_data, order)
            loss, acc, test_acc = jax.device_get(metrics)
            print(f"epoch {epoch} loss {loss:.3f} acc {acc:.2f} test {test_acc:.2f}")


if __name__ == "__main__":
    Trainer(Config()).fit()
