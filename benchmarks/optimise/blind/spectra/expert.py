"""Classify mineral spectra with a small residual network (flax linen + optax).

The spectra are synthetic: every class is a mixture of absorption lines, with a
random continuum, a random shift of the lines and noise.
"""
from dataclasses import dataclass

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    n_bands: int = 96
    n_classes: int = 6
    n_train: int = 1920
    n_test: int = 600
    width: int = 64
    depth: int = 3
    batch_size: int = 64
    epochs: int = 5
    lr: float = 2e-3
    weight_decay: float = 1e-3
    ema_decay: float = 0.98
    seed: int = 7


def make_spectra(cfg, n, rng, lines):
    bands = np.linspace(0.0, 1.0, cfg.n_bands)
    labels = rng.integers(0, cfg.n_classes, n)
    spectra = np.empty((n, cfg.n_bands))
    for i, c in enumerate(labels):
        shift = rng.normal(0.0, 0.02)
        depth = rng.uniform(0.1, 0.5, lines.shape[1])
        absorbed = sum(d * np.exp(-0.5 * ((bands - l - shift) / 0.03) ** 2) for d, l in zip(depth, lines[c]))
        continuum = rng.uniform(0.6, 1.4) + rng.normal(0, 0.3) * bands
        spectra[i] = continuum * (1.0 - absorbed) + rng.normal(0.0, 0.08, cfg.n_bands)
    return spectra, labels


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        h = nn.gelu(nn.Dense(2 * self.width)(h))
        return x + nn.Dense(self.width)(h)


class SpectrumNet(nn.Module):
    width: int
    depth: int
    n_classes: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        for _ in range(self.depth):
            x = Block(self.width)(x)
        return nn.Dense(self.n_classes)(nn.LayerNorm()(x))


class Trainer:
    def __init__(self, cfg, x, y):
        self.cfg = cfg
        self.mean, self.std = x.mean(axis=0), x.std(axis=0)
        self.x, self.y = jnp.asarray(self.normalise(x)), jnp.asarray(y)
        self.model = SpectrumNet(cfg.width, cfg.depth, cfg.n_classes)
        self.params = jax.jit(self.model.init)(jax.random.PRNGKey(cfg.seed), jnp.zeros((1, cfg.n_bands)))
        steps = cfg.epochs * (len(x) // cfg.batch_size)
        schedule = optax.warmup_cosine_decay_schedule(0.0, cfg.lr, 20, steps)
        self.tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=cfg.weight_decay))
        self.opt_state = jax.jit(self.tx.init)(self.params)
        self.ema = self.params
        self.rng = np.random.default_rng(cfg.seed)
        self._epoch = jax.jit(self._run_epoch)
        self._predict = jax.jit(lambda params, x: jnp.argmax(self.model.apply(params, x), axis=-1))

    def normalise(self, spectra):
        return ((spectra - self.mean) / self.std).astype(np.float32)

    def _run_epoch(self, params, opt_state, ema, batches, data_x, data_y):
        def loss_fn(params, x, y):
            logits = self.model.apply(params, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        d = self.cfg.ema_decay

        def step(carry, idx):
            params, opt_state, ema = carry
            loss, grads = jax.value_and_grad(loss_fn)(params, data_x[idx], data_y[idx])
            updates, opt_state = self.tx.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            ema = jax.tree.map(lambda e, p: d * e + (1.0 - d) * p, ema, params)
            return (params, opt_state, ema), loss

        return jax.lax.scan(step, (params, opt_state, ema), batches)

    def train_epoch(self):
        batches = self.rng.permutation(len(self.x)).reshape(-1, self.cfg.batch_size)
        (self.params, self.opt_state, self.ema), losses = self._epoch(
            self.params, self.opt_state, self.ema, batches, self.x, self.y)
        return np.mean(np.asarray(losses, dtype=np.float64))

    def confusion(self, x, y):
        """Rows are true classes, columns are predicted ones. The spectra are normalised already."""
        matrix = np.zeros((self.cfg.n_classes, self.cfg.n_classes))
        np.add.at(matrix, (y, np.asarray(self._predict(self.ema, x))), 1)
        return matrix


def main():
    cfg = Config()
    rng = np.random.default_rng(cfg.seed)
    lines = rng.uniform(0.1, 0.9, (cfg.n_classes, 3))
    x_train, y_train = make_spectra(cfg, cfg.n_train, rng, lines)
    x_test, y_test = make_spectra(cfg, cfg.n_test, rng, lines)

    trainer = Trainer(cfg, x_train, y_train)
    x_test = jnp.asarray(trainer.normalise(x_test))
    for epoch in range(cfg.epochs):
        loss = trainer.train_epoch()
        matrix = trainer.confusion(x_test, y_test)
        accuracy = np.trace(matrix) / matrix.sum()
        print(f"epoch {epoch}: loss {loss:.2f}, test accuracy {accuracy:.2f}")
    recall = np.diag(matrix) / matrix.sum(axis=1)
    print("worst class:", int(np.argmin(recall)), "recall", f"{recall.min():.2f}")


if __name__ == "__main__":
    main()
