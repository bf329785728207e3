"""A denoising diffusion model (equinox) of points on noisy rings."""
import math
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax


class Settings(NamedTuple):
    n_data: int = 2000
    n_levels: int = 30
    hidden: int = 64
    batch: int = 128
    steps: int = 150
    lr: float = 6e-3
    decay_every: int = 50
    ema: float = 0.95
    n_samples: int = 160
    seed: int = 4


@partial(jax.jit, static_argnums=1)
def make_rings(key, n):
    k_ring, k_angle, k_noise = jr.split(key, 3)
    radius = jnp.where(jr.bernoulli(k_ring, 0.6, (n,)), 1.5, 0.5)
    angle = jr.uniform(k_angle, (n,), maxval=2 * math.pi)
    points = radius[:, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)
    return points + 0.05 * jr.normal(k_noise, points.shape)


def noise_schedule(n_levels):
    """The cosine schedule of Nichol and Dhariwal: betas, and the products of the alphas."""
    def f(t):
        return math.cos((t / n_levels + 0.008) / 1.008 * math.pi / 2) ** 2

    betas = np.array([min(1 - f(t + 1) / f(t), 0.5) for t in range(n_levels)], np.float32)
    return jnp.asarray(betas), jnp.asarray(np.cumprod(1.0 - betas))


class Denoiser(eqx.Module):
    layers: list
    frequencies: jax.Array

    def __init__(self, hidden, key):
        keys = jr.split(key, 4)
        sizes = [2 + 16, hidden, hidden, hidden, 2]
        self.layers = [eqx.nn.Linear(a, b, key=k) for a, b, k in zip(sizes[:-1], sizes[1:], keys)]
        self.frequencies = 2.0 ** jnp.arange(8) * math.pi / 2

    def __call__(self, x, time):
        angles = jax.lax.stop_gradient(self.frequencies) * time
        h = jnp.concatenate([x, jnp.sin(angles), jnp.cos(angles)])
        for layer in self.layers[:-1]:
            h = jax.nn.silu(layer(h))
        return self.layers[-1](h)


def diffusion_loss(model, x, noise, level, alphas_bar, n_levels):
    a = alphas_bar[level][:, None]
    noisy = jnp.sqrt(a) * x + jnp.sqrt(1.0 - a) * noise
    predicted = jax.vmap(model)(noisy, level / n_levels)
    return jnp.mean((predicted - noise) ** 2)


def make_chunk(static, optimizer, cfg, alphas_bar, data):
    """A compiled function that trains for many steps."""

    def loss_fn(params, *rest):
        return diffusion_loss(eqx.combine(params, static), *rest, alphas_bar, cfg.n_levels)

    def train_step(carry, lr):
        params, opt_state, average, key = carry
        key, k_batch, k_noise, k_level = jr.split(key, 4)
        x = data[jr.randint(k_batch, (cfg.batch,), 0, len(data))]
        noise = jr.normal(k_noise, x.shape)
        level = jr.randint(k_level, (cfg.batch,), 0, cfg.n_levels)
        loss, grads = jax.value_and_grad(loss_fn)(params, x, noise, level)
        opt_state.hyperparams["learning_rate"] = lr
        updates, opt_state = optimizer.update(grads, opt_state)
        params = eqx.apply_updates(params, updates)
        average = jax.tree.map(lambda a, m: cfg.ema * a + (1 - cfg.ema) * m, average, params)
        return (params, opt_state, average, key), loss

    return jax.jit(lambda carry, rates: jax.lax.scan(train_step, carry, rates))


def train(model, data, cfg, key):
    optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=cfg.lr)
    params, static = eqx.partition(model, eqx.is_array)
    _, alphas_bar = noise_schedule(cfg.n_levels)
    run_chunk = make_chunk(static, optimizer, cfg, alphas_bar, data)
    rates = np.array([cfg.lr * 0.5 ** (step // cfg.decay_every) for step in range(cfg.steps)], np.float32)
    carry = (params, optimizer.init(params), params, key)
    for step in range(cfg.decay_every, cfg.steps + 1, cfg.decay_every):
        carry, losses = run_chunk(carry, rates[step - cfg.decay_every:step])
        print(f"step {step}: loss {np.asarray(losses).astype(float).mean():.2f}")
    return eqx.combine(carry[2], static)


@eqx.filter_jit
def sample(model, cfg, key):
    """The ancestral sampler, from pure noise to level 0."""
    betas, alphas_bar = noise_schedule(cfg.n_levels)
    key, sub = jr.split(key)
    x = jr.normal(sub, (cfg.n_samples, 2))

    def denoise(carry, t):
        x, key = carry
        key, sub = jr.split(key)
        eps = jax.vmap(lambda p: model(p, t / cfg.n_levels))(x)
        x = (x - betas[t] / jnp.sqrt(1.0 - alphas_bar[t]) * eps) / jnp.sqrt(1.0 - betas[t])
        x = x + jnp.where(t > 0, jnp.sqrt(betas[t]), 0.0) * jr.normal(sub, x.shape)
        return (x, key), None

    (x, _), _ = jax.lax.scan(denoise, (x, key), jnp.arange(cfg.n_levels)[::-1])
    return x


@jax.jit
def energy_distance(x, y):
    def mean_distance(a, b):
        return jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1)).mean()

    return 2 * mean_distance(x, y) - mean_distance(x, x) - mean_distance(y, y)


if __name__ == "__main__":
    cfg = Settings()
    k_data, k_model, k_train, k_sample, k_test = jr.split(jr.PRNGKey(cfg.seed), 5)
    data = make_rings(k_data, cfg.n_data)
    model = train(eqx.filter_jit(Denoiser)(cfg.hidden, k_model), data, cfg, k_train)

    points = sample(model, cfg, k_sample)
    radius = np.linalg.norm(np.asarray(points), axis=1)
    print(f"mean radius: {float(radius.mean()):.2f}, on the outer ring: {int((radius > 1.0).sum())}")
    reference = make_rings(k_test, cfg.n_samples)
    print(f"energy distance: {energy_distance(points, reference):.3f}")
