"""A denoising diffusion model (equinox) of points on noisy rings."""
import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
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

    betas = jnp.array([min(1 - f(t + 1) / f(t), 0.5) for t in range(n_levels)])
    return betas, jnp.cumprod(1.0 - betas)


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


@eqx.filter_jit
def loss_and_grads(model, x, noise, level, alphas_bar, n_levels):
    return eqx.filter_value_and_grad(diffusion_loss)(model, x, noise, level, alphas_bar, n_levels)


def train(model, data, cfg, key):
    optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=cfg.lr)
    opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
    average = model
    history = []
    for step in range(cfg.steps):
        key, k_batch, k_noise, k_level = jr.split(key, 4)
        x = data[jr.randint(k_batch, (cfg.batch,), 0, len(data))]
        noise = jr.normal(k_noise, x.shape)
        level = jr.randint(k_level, (cfg.batch,), 0, cfg.n_levels)
        _, alphas_bar = noise_schedule(cfg.n_levels)
        loss, grads = loss_and_grads(model, x, noise, level, alphas_bar, cfg.n_levels)
        opt_state.hyperparams["learning_rate"] = jnp.asarray(cfg.lr * 0.5 ** (step // cfg.decay_every))
        updates, opt_state = optimizer.update(grads, opt_state)
        model = eqx.apply_updates(model, updates)
        average = jax.tree.map(
            lambda a, m: cfg.ema * a + (1 - cfg.ema) * m if eqx.is_array(m) else m, average, model)
        history.append(loss.item())
        if (step + 1) % cfg.decay_every == 0:
            print(f"step {step + 1}: loss {sum(history[-cfg.decay_every:]) / cfg.decay_every:.2f}")
    return average


@eqx.filter_jit
def denoise(model, x, t, n_levels, key):
    """One step of the ancestral sampler, from level t to level t - 1."""
    betas, alphas_bar = noise_schedule(n_levels)
    eps = jax.vmap(lambda p: model(p, jnp.asarray(t / n_levels)))(x)
    x = (x - betas[t] / jnp.sqrt(1.0 - alphas_bar[t]) * eps) / jnp.sqrt(1.0 - betas[t])
    if t > 0:
        x = x + jnp.sqrt(betas[t]) * jr.normal(key, x.shape)
    return x


def sample(model, cfg, key):
    key, sub = jr.split(key)
    x = jr.normal(sub, (cfg.n_samples, 2))
    for t in reversed(range(cfg.n_levels)):
        key, sub = jr.split(key)
        x = denoise(model, x, t, cfg.n_levels, sub)
    return x


def energy_distance(x, y):
    def mean_distance(a, b):
        return sum(float(jnp.linalg.norm(b - p, axis=1).mean()) for p in a) / len(a)

    return 2 * mean_distance(x, y) - mean_distance(x, x) - mean_distance(y, y)


if __name__ == "__main__":
    cfg = Settings()
    k_data, k_model, k_train, k_sample, k_test = jr.split(jr.PRNGKey(cfg.seed), 5)
    data = make_rings(k_data, cfg.n_data)
    model = train(Denoiser(cfg.hidden, k_model), data, cfg, k_train)

    points = sample(model, cfg, k_sample)
    radius = jnp.linalg.norm(points, axis=1)
    print(f"mean radius: {float(radius.mean()):.2f}, on the outer ring: {int((radius > 1.0).sum())}")
    reference = make_rings(k_test, cfg.n_samples)
    print(f"energy distance: {energy_distance(points, reference):.3f}")
