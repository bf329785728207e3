"""Metric learning on short noisy pulses: a small convolutional encoder in equinox, trained with triplets."""
from dataclasses import dataclass
from functools import partial

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
    """Draws row numbers on the host; the rows themselves are gathered on the device."""

    def __init__(self, labels, seed):
        self.members = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
        self.rng = np.random.default_rng(seed)

    def sample(self, shape):
        rows = np.empty((*shape, 3), np.int32)
        for index in np.ndindex(*shape):
            a, b = self.rng.choice(len(self.members), size=2, replace=False)
            rows[index][:2] = self.rng.choice(self.members[a], size=2, replace=False)
            rows[index][2] = self.rng.choice(self.members[b])
        return rows


def triplet_loss(model, batch, margin):
    anchor, positive, negative = (jax.vmap(model)(part) for part in batch)
    near = jnp.sum((anchor - positive) ** 2, axis=-1)
    far = jnp.sum((anchor - negative) ** 2, axis=-1)
    return jnp.mean(jax.nn.softplus(4 * (near - far + margin))) / 4, jnp.mean(near < far)


def make_stage(config, static, optim):
    @partial(jax.jit, donate_argnums=0)
    def run_stage(carry, signals, rows, margin, gallery, queries, query_labels):
        def step(carry, rows):
            params, opt_state = carry
            batch = tuple(signals[rows[:, i]] for i in range(3))

            def loss_fn(params):
                return triplet_loss(eqx.combine(params, static), batch, margin)

            (loss, ordered), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
            updates, opt_state = optim.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), (loss, ordered)

        carry, (losses, ordered) = jax.lax.scan(step, carry, rows)
        encode = jax.vmap(eqx.combine(carry[0], static))
        centroids = encode(gallery).reshape(config.classes, config.gallery, -1).mean(axis=1)
        distances = jnp.sum((encode(queries)[:, None] - centroids[None]) ** 2, axis=-1)
        accuracy = (distances.argmin(axis=1) == query_labels).mean()
        return carry, losses, ordered, accuracy

    return run_stage


def main():
    config = Config()
    signals, labels = make_pulses(config)
    position = np.arange(len(labels)) % config.per_class
    train, gallery, query = position < 18, (position >= 18) & (position < 18 + config.gallery), position >= 25
    sampler = TripletSampler(labels[train], config.seed)
    model = eqx.filter_jit(Encoder)(config.embedding, jax.random.key(config.seed))
    optim = optax.adam(config.learning_rate)
    params, static = eqx.partition(model, eqx.is_inexact_array)
    carry = (params, jax.jit(optim.init)(params))
    run_stage = make_stage(config, static, optim)
    on_device = jax.device_put((signals[train], signals[gallery], signals[query], labels[query]))
    train_signals, evaluation = on_device[0], on_device[1:]

    for stage in range(config.stages):
        fraction = stage / (config.stages - 1)
        margin = config.first_margin + fraction * (config.last_margin - config.first_margin)
        rows = sampler.sample((config.steps_per_stage, config.batch_size))
        carry, losses, ordered, accuracy = run_stage(carry, train_signals, rows, np.float32(margin), *evaluation)
        print(
            f"stage {stage + 1}: margin {margin:.2f}, loss {np.mean(losses):.3g}, "
            f"ordered {np.mean(ordered, dtype=float):.3f}, retrieval {accuracy:.3f}"
        )


if __name__ == "__main__":
    main()
