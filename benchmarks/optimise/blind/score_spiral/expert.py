"""Denoising score matching on a two-armed spiral, sampled with annealed Langevin dynamics."""
from dataclasses import dataclass
from functools import partial

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


def make_functions(config, data):
    sigmas = jnp.geomspace(config.sigma_max, config.sigma_min, config.levels)
    optimizer = optax.adam(config.learning_rate)

    @jax.jit
    def init(seed_key):
        key, init_key = jax.random.split(seed_key)
        params = init_network(config, init_key)
        return params, jax.tree.map(jnp.copy, params), optimizer.init(params), key

    @partial(jax.jit, donate_argnums=0)
    def train(carry, data):
        def step(carry, _):
            params, ema_params, opt_state, key = carry
            key, row_key = jax.random.split(key)
            key, level_key = jax.random.split(key)
            key, noise_key = jax.random.split(key)
            rows = jax.random.randint(row_key, (config.batch_size,), 0, len(data))
            levels = jax.random.randint(level_key, (config.batch_size,), 0, config.levels)
            noise = jax.random.normal(noise_key, (config.batch_size, 2))
            loss, grads = jax.value_and_grad(loss_fn)(params, data[rows], sigmas[levels], noise)
            updates, opt_state = optimizer.update(grads, opt_state)
            params = optax.apply_updates(params, updates)
            decay = config.ema
            ema_params = jax.tree.map(lambda e, p: decay * e + (1 - decay) * p, ema_params, params)
            return (params, ema_params, opt_state, key), loss

        carry, losses = jax.lax.scan(step, carry, None, length=config.report_every)
        return carry, losses.mean()

    @jax.jit
    def sample(params, key):
        n = config.samples

        def level(carry, sigma):
            step = config.step_size * sigma**2

            def move(carry, _):
                x, key = carry
                key, noise_key = jax.random.split(key)
                noise = jax.random.normal(noise_key, (n, 2))
                x = x + 0.5 * step * score(params, x, jnp.full((n,), sigma)) + jnp.sqrt(step) * noise
                return (x, key), None

            (x, key), _ = jax.lax.scan(move, carry, None, length=config.langevin_steps)
            return (x, key), jnp.linalg.norm(x, axis=1).mean()

        key, start_key = jax.random.split(key)
        x = config.sigma_max * jax.random.normal(start_key, (n, 2))
        (x, _), radii = jax.lax.scan(level, (x, key), sigmas)
        return x, sigmas, radii

    return init, train, sample


def nearest_distances(a, b):
    squares = ((a[:, None] - b[None]) ** 2).sum(axis=-1)
    return np.sqrt(squares.min(axis=1)), np.sqrt(squares.min(axis=0))


def main():
    config = Config()
    data = make_spiral(config)
    init, train, sample = make_functions(config, data)
    carry = init(jax.random.PRNGKey(config.seed))
    on_device = jnp.asarray(data)
    for i in range(config.report_every, config.steps + 1, config.report_every):
        carry, loss = train(carry, on_device)
        print(f"step {i}: loss {loss:.3g}")
    samples, sigmas, radii = jax.device_get(sample(carry[1], carry[3]))
    for i in range(1, config.levels, 2):
        print(f"level {i + 1}: sigma {sigmas[i]:.3f}, mean radius {radii[i]:.3f}")
    to_data, to_samples = nearest_distances(samples, data)
    print(f"distance of samples to data {to_data.mean():.3f}")
    print(f"distance of data to samples {to_samples.mean():.3f}")


if __name__ == "__main__":
    main()
