"""Metric learning on short noisy pulses: a small convolutional encoder in equinox, trained with triplets."""
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    length: int = 48
    classes: int = 6
    per_class: int = 30
    gallery: int = 5
    embedding: int = 12
    batch_size: int = 32
    steps_per_stage: int = 60
    stages: int = 5
    first_margin: float = 0.2
    last_margin: float = 1.0
    learning_rate: float = 1e-3
    seed: int = 11


class Encoder(eqx.Module):
    convs: list
    project: eqx.nn.Linear

    def __init__(self, embedding, key):
        keys = jax.random.split(key, 3)
        self.convs = [
            eqx.nn.Conv1d(1, 16, 7, stride=2, padding=3, key=keys[0]),
            eqx.nn.Conv1d(16, 16, 5, stride=2, padding=2, key=keys[1]),
        ]
        self.project = eqx.nn.Linear(32, embedding, key=keys[2])

    def __call__(self, signal):
        x = signal[None, :]
        for conv in self.convs:
            x = jax.nn.silu(conv(x))
        x = self.project(jnp.concatenate([x.mean(axis=1), x.std(axis=1)]))
        return x / (jnp.linalg.norm(x) + 1e-6)


def make_pulses(config):
    rng = np.random.default_rng(config.seed)
    grid = np.linspace(0, 1, config.length)
    shapes = [(rng.uniform(2, 9), rng.uniform(0.05, 0.25), rng.uniform(-1, 1)) for _ in range(config.classes)]
    signals, labels = [], []
    for label, (frequency, width, chirp) in enumerate(shapes):
        for _ in range(config.per_class):
            t = grid - rng.uniform(0.3, 0.7)
            pulse = np.exp(-0.5 * (t / width) ** 2) * np.cos(2 * np.pi * (frequency * t + 8 * chirp * t**2))
            signals.append(pulse + 0.25 * rng.normal(size=config.length))
            labels.append(label)
    return np.array(signals, np.float32), np.array(labels)


class TripletSampler:
    def __init__(self, signals, labels, seed):
        self.signals = signals
        self.labels = labels
        self.members = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
        self.rng = np.random.default_rng(seed)

    def sample(self, batch_size):
        anchors, positives, negatives = [], [], []
        for _ in range(batch_size):
            a, b = self.rng.choice(len(self.members), size=2, replace=False)
            anchor, positive = self.rng.choice(self.members[a], size=2, replace=False)
            anchors.append(self.signals[anchor])
            positives.append(self.signals[positive])
            negatives.append(self.signals[self.rng.choice(self.members[b])])
        return np.stack(anchors), np.stack(positives), np.stack(negatives)


def triplet_loss(model, batch, margin):
    anchor, positive, negative = (jax.vmap(model)(part) for part in batch)
    near = jnp.sum((anchor - positive) ** 2, axis=-1)
    far = jnp.sum((anchor - negative) ** 2, axis=-1)
    return jnp.mean(jax.nn.softplus(4 * (near - far + margin))) / 4, jnp.mean(near < far)


@eqx.filter_jit
def make_step(model, opt_state, optim, batch, margin):
    (loss, ordered), grads = eqx.filter_value_and_grad(triplet_loss, has_aux=True)(model, batch, margin)
    updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state, loss, ordered


def retrieval_accuracy(model, config, gallery, gallery_labels, queries, query_labels):
    gallery_vectors = [model(signal) for signal in gallery]
    centroids = []
    for c in range(config.classes):
        centroids.append(sum(v for v, label in zip(gallery_vectors, gallery_labels) if label == c) / config.gallery)
    correct = 0
    for signal, label in zip(queries, query_labels):
        vector = model(signal)
        distances = [float(jnp.sum((vector - centroid) ** 2)) for centroid in centroids]
        correct += int(np.argmin(distances) == label)
    return correct / len(queries)


def main():
    config = Config()
    signals, labels = make_pulses(config)
    position = np.arange(len(labels)) % config.per_class
    train, gallery, query = position < 18, (position >= 18) & (position < 18 + config.gallery), position >= 25
    sampler = TripletSampler(signals[train], labels[train], config.seed)
    model = Encoder(config.embedding, jax.random.key(config.seed))
    optim = optax.adam(config.learning_rate)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))

    for stage in range(config.stages):
        fraction = stage / (config.stages - 1)
        margin = config.first_margin + fraction * (config.last_margin - config.first_margin)
        losses, ordered = [], []
        for _ in range(config.steps_per_stage):
            batch = sampler.sample(config.batch_size)
            model, opt_state, loss, share = make_step(model, opt_state, optim, batch, margin)
            losses.append(loss.item())
            ordered.append(share.item())
        accuracy = retrieval_accuracy(model, config, signals[gallery], labels[gallery], signals[query], labels[query])
        print(
            f"stage {stage + 1}: margin {margin:.2f}, loss {np.mean(losses):.3g}, "
            f"ordered {np.mean(ordered):.3f}, retrieval {accuracy:.3f}"
        )


if __name__ == "__main__":
    main()
