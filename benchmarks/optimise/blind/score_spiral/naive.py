"""Denoising score matching on a two-armed spiral, sampled with annealed Langevin dynamics."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    points: int = 1000
    width: int = 48
    levels: int = 8
    sigma_max: float = 1.5
    sigma_min: float = 0.06
    batch_size: int = 128
    steps: int = 500
    ema: float = 0.99
    learning_rate: float = 3e-3
    langevin_steps: int = 40
    step_size: float = 0.15
    samples: int = 256
    report_every: int = 100
    seed: int = 17


def make_spiral(config):
    rng = np.random.default_rng(config.seed)
    radius = np.sqrt(rng.uniform(0.05, 1.0, size=config.points)) * 2
    angle = 2.2 * radius + np.pi * rng.integers(0, 2, size=config.points)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return (points + 0.04 * rng.normal(size=points.shape)).astype(np.float32)


def init_layer(key, inputs, outputs):
    return {"w": jax.random.normal(key, (inputs, outputs)) / jnp.sqrt(inputs), "b": jnp.zeros(outputs)}


def init_network(config, key):
    keys = jax.random.split(key, 4)
    return [
        init_layer(keys[0], 6, config.width),
        init_layer(keys[1], config.width, config.width),
        init_layer(keys[2], config.width, config.width),
        init_layer(keys[3], config.width, 2),
    ]


def score(params, x, sigma):
    level = jnp.log(sigma)[:, None]
    h = jnp.concatenate([x, level, jnp.sin(3 * level), x / (1 + sigma[:, None])], axis=1)
    for layer in params[:-1]:
        h = jax.nn.silu(h @ layer["w"] + layer["b"])
    return (h @ params[-1]["w"] + params[-1]["b"]) / sigma[:, None]


def loss_fn(params, clean, sigma, noise):
    noisy = clean + sigma[:, None] * noise
    error = sigma[:, None] * score(params, noisy, sigma) + noise
    return 0.5 * jnp.mean(jnp.sum(error**2, axis=1))


class ScoreTrainer:
    def __init__(self, config, data):
        self.config = config
        self.data = jnp.asarray(data)
        self.sigmas = jnp.geomspace(config.sigma_max, config.sigma_min, config.levels)
        self.key, init_key = jax.random.split(jax.random.PRNGKey(config.seed))
        self.params = init_network(config, init_key)
        self.ema_params = self.params
        self.optimizer = optax.adam(config.learning_rate)
        self.opt_state = self.optimizer.init(self.params)
        self.loss_and_grad = jax.jit(jax.value_and_grad(loss_fn))

    def next_key(self):
        self.key, key = jax.random.split(self.key)
        return key

    def step(self):
        size = self.config.batch_size
        rows = jax.random.randint(self.next_key(), (size,), 0, len(self.data))
        levels = jax.random.randint(self.next_key(), (size,), 0, self.config.levels)
        noise = jax.random.normal(self.next_key(), (size, 2))
        loss, grads = self.loss_and_grad(self.params, self.data[rows], self.sigmas[levels], noise)
        updates, self.opt_state = self.optimizer.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        decay = self.config.ema
        self.ema_params = jax.tree.map(lambda e, p: decay * e + (1 - decay) * p, self.ema_params, self.params)
        return float(loss)

    def train(self):
        losses = []
        for i in range(1, self.config.steps + 1):
            losses.append(self.step())
            if i % self.config.report_every == 0:
                print(f"step {i}: loss {np.mean(losses[-self.config.report_every:]):.3g}")

    def sample(self):
        n = self.config.samples
        x = self.config.sigma_max * jax.random.normal(self.next_key(), (n, 2))
        for i, sigma in enumerate(self.sigmas):
            step = self.config.step_size * sigma**2
            for _ in range(self.config.langevin_steps):
                noise = jax.random.normal(self.next_key(), (n, 2))
                x = x + 0.5 * step * score(self.ema_params, x, jnp.full((n,), sigma)) + jnp.sqrt(step) * noise
            if i % 2 == 1:
                print(f"level {i + 1}: sigma {float(sigma):.3f}, mean radius {float(jnp.linalg.norm(x, axis=1).mean()):.3f}")
        return x


def nearest_distances(a, b):
    return np.array([np.sqrt(((b - point) ** 2).sum(axis=1)).min() for point in a])


def main():
    config = Config()
    data = make_spiral(config)
    trainer = ScoreTrainer(config, data)
    trainer.train()
    samples = np.asarray(trainer.sample())
    print(f"distance of samples to data {nearest_distances(samples, data).mean():.3f}")
    print(f"distance of data to samples {nearest_distances(data, samples).mean():.3f}")


if __name__ == "__main__":
    main()
