"""A small nnx convolutional network that tells drawn glyphs apart, with a Trainer."""
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

CLASSES = ("cross", "box", "disc", "stripe")
SIZE = 12


@dataclass
class TrainConfig:
    epochs: int = 4
    batch_size: int = 32
    peak_lr: float = 8e-3
    warmup_steps: int = 10
    channels: tuple = (8, 16)
    label_smoothing: float = 0.05
    noise: float = 0.2
    n_train: int = 320
    n_test: int = 56
    seed: int = 3
    log_fields: list = field(default_factory=lambda: ["loss", "accuracy"])


def draw_glyph(label, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE] - SIZE / 2 + 0.5
    yy, xx = yy - rng.uniform(-1.5, 1.5), xx - rng.uniform(-1.5, 1.5)
    r = rng.uniform(2.5, 4.0)
    if label == 0:
        img = ((np.abs(xx) < 1) | (np.abs(yy) < 1)) & (np.maximum(abs(xx), abs(yy)) < r)
    elif label == 1:
        ring = np.maximum(np.abs(xx), np.abs(yy))
        img = (ring < r) & (ring > r - 1.5)
    elif label == 2:
        img = xx**2 + yy**2 < r**2
    else:
        img = (np.abs(xx + yy) % 4 < 1.5) & (np.maximum(abs(xx), abs(yy)) < r)
    return img.astype(np.float64)


def make_split(n, noise, rng):
    labels = rng.integers(0, len(CLASSES), n)
    images = np.stack([draw_glyph(c, rng) for c in labels])[..., None]
    images = images + noise * rng.normal(size=images.shape)
    return images.astype(np.float32), labels.astype(np.int32)


class ConvBlock(nnx.Module):
    def __init__(self, n_in, n_out, rngs):
        self.conv = nnx.Conv(n_in, n_out, (3, 3), rngs=rngs)
        self.norm = nnx.LayerNorm(n_out, rngs=rngs)

    def __call__(self, x):
        return nnx.max_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), strides=(2, 2))


class GlyphNet(nnx.Module):
    def __init__(self, channels, n_classes, rngs):
        widths = (1, *channels)
        self.blocks = nnx.List([ConvBlock(a, b, rngs) for a, b in zip(widths[:-1], widths[1:])])
        side = SIZE // 2 ** len(channels)
        self.hidden = nnx.Linear(side * side * channels[-1], 32, rngs=rngs)
        self.head = nnx.Linear(32, n_classes, rngs=rngs)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        x = nnx.relu(self.hidden(x.reshape(x.shape[0], -1)))
        return self.head(x)


def augment(images, key):
    flip = jax.vmap(jax.random.bernoulli)(jax.random.split(key, len(images)))
    return jnp.where(flip[:, None, None, None], images[:, :, ::-1], images)


def loss_fn(model, images, labels, smoothing):
    logits = model(images)
    targets = optax.smooth_labels(jax.nn.one_hot(labels, len(CLASSES)), smoothing)
    return optax.softmax_cross_entropy(logits, targets).mean(), logits


def make_functions(graphdef, smoothing):
    @jax.jit
    def step(state, key, images, labels):
        model, optimizer, metrics = nnx.merge(graphdef, state)
        key, sub = jax.random.split(key)
        (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, augment(images, sub), labels, smoothing)
        optimizer.update(model, grads)
        metrics.update(loss=loss, logits=logits, labels=labels)
        return nnx.state((model, optimizer, metrics)), key, loss

    @jax.jit
    def log_probs(state, images):
        model, _, _ = nnx.merge(graphdef, state)
        return jax.nn.log_softmax(model(images))

    return step, log_probs


class Trainer:
    def __init__(self, cfg, steps_per_epoch):
        self.cfg = cfg
        total = cfg.epochs * steps_per_epoch
        self.schedule = optax.warmup_cosine_decay_schedule(0.0, cfg.peak_lr, cfg.warmup_steps, total)
        tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(self.schedule))
        model = GlyphNet(cfg.channels, len(CLASSES), nnx.Rngs(cfg.seed))
        metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
        self.graphdef, self.state = nnx.split((model, nnx.Optimizer(model, tx, wrt=nnx.Param), metrics))
        self._step, self._log_probs = make_functions(self.graphdef, cfg.label_smoothing)
        self.lrs = np.asarray(jax.jit(jax.vmap(self.schedule))(np.arange(total)))

    def train_epoch(self, images, labels, epoch, rng):
        model, optimizer, metrics = nnx.merge(self.graphdef, self.state)
        metrics.reset()
        state = nnx.state((model, optimizer, metrics))
        order = rng.permutation(len(images))
        key = jax.random.fold_in(jax.random.key(self.cfg.seed), epoch)
        losses = []
        for start in range(0, len(order) - self.cfg.batch_size + 1, self.cfg.batch_size):
            idx = order[start:start + self.cfg.batch_size]
            state, key, loss = self._step(state, key, images[idx], labels[idx])
            losses.append(loss)
        self.state = state
        values = nnx.merge(self.graphdef, state)[2].compute()
        worst = float(np.max(jax.device_get(losses)))
        return {**{k: float(values[k]) for k in self.cfg.log_fields}, "worst": worst}

    def evaluate(self, images, labels):
        log_probs = np.asarray(self._log_probs(self.state, images))
        confusion = np.zeros((len(CLASSES), len(CLASSES)), int)
        np.add.at(confusion, (labels, log_probs.argmax(1)), 1)
        return -log_probs[np.arange(len(labels)), labels].mean(), confusion


def main():
    cfg = TrainConfig()
    rng = np.random.default_rng(cfg.seed)
    train = make_split(cfg.n_train, cfg.noise, rng)
    test = make_split(cfg.n_test, cfg.noise, rng)
    trainer = Trainer(cfg, cfg.n_train // cfg.batch_size)
    for epoch in range(cfg.epochs):
        m = trainer.train_epoch(*train, epoch, rng)
        nll, confusion = trainer.evaluate(*test)
        print(f"epoch {epoch}: loss {m['loss']:.3f} (worst {m['worst']:.3f}) acc {m['accuracy']:.3f} "
              f"test nll {nll:.3f} acc {np.trace(confusion) / confusion.sum():.3f}")
    print("mean lr", round(float(np.mean(trainer.lrs)), 6))
    print("recall", dict(zip(CLASSES, np.round(np.diag(confusion) / confusion.sum(1), 3).tolist())))


if __name__ == "__main__":
    main()
