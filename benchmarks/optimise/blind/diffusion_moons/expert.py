"""A denoising diffusion model on the two moons."""
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

T = 50
BATCH = 128


def two_moons(n, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, np.pi, size=n)
    upper = rng.integers(0, 2, size=n).astype(bool)
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    pts = np.stack([x, y], axis=1) + 0.05 * rng.normal(size=(n, 2))
    return (pts - pts.mean(0)) / pts.std(0)


class Schedule:
    def __init__(self, steps, beta_min=1e-4, beta_max=0.12):
        self.betas = np.linspace(beta_min, beta_max, steps)
        self.alphas = 1.0 - self.betas
        self.alpha_bars = np.cumprod(self.alphas)


class ScoreNet(nn.Module):
    width: int = 96

    @nn.compact
    def __call__(self, x, t):
        freqs = 2.0 ** jnp.arange(6)
        angles = t[:, None] * freqs[None, :]
        emb = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
        h = jnp.concatenate([x, emb], axis=-1)
        for _ in range(2):
            h = nn.swish(nn.Dense(self.width)(h))
        return nn.Dense(2)(h)


class State(NamedTuple):
    params: Any
    ema: Any
    opt_state: Any
    key: jax.Array


SCHEDULE = Schedule(T)
NET = ScoreNet()
TX = optax.adam(2e-3)


def next_key(key):
    key, sub = jax.random.split(key)
    return key, sub


@jax.jit
def create(key):
    key, sub = next_key(key)
    params = NET.init(sub, jnp.zeros((1, 2)), jnp.zeros((1,)))
    return State(params, jax.tree.map(jnp.copy, params), TX.init(params), key)


def loss_fn(params, x0, t, noise):
    ab = jnp.asarray(SCHEDULE.alpha_bars, jnp.float32)[t][:, None]
    xt = jnp.sqrt(ab) * x0 + jnp.sqrt(1 - ab) * noise
    pred = NET.apply(params, xt, t / T)
    return jnp.mean((pred - noise) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_steps(state, batches):
    def step(state, x0):
        params, ema, opt_state, key = state
        key, t_key = next_key(key)
        key, noise_key = next_key(key)
        t = jax.random.randint(t_key, (len(x0),), 0, T)
        noise = jax.random.normal(noise_key, x0.shape)
        loss, grads = jax.value_and_grad(loss_fn)(params, x0, t, noise)
        updates, opt_state = TX.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        ema = jax.tree.map(lambda e, p: 0.98 * e + 0.02 * p, ema, params)
        return State(params, ema, opt_state, key), loss

    state, losses = jax.lax.scan(step, state, batches)
    return state, losses.mean()


@partial(jax.jit, static_argnums=2)
def sample(ema, key, n):
    s = SCHEDULE
    coefs = s.betas / np.sqrt(1 - s.alpha_bars)
    scale = 1 / np.sqrt(s.alphas)
    sigma = np.where(np.arange(T) > 0, np.sqrt(s.betas), 0.0)
    table = jnp.asarray(np.stack([np.arange(T) / T, coefs, scale, sigma], 1), jnp.float32)

    def body(carry, row):
        x, key = carry
        time, coef, scale, sigma = row
        x = (x - coef * NET.apply(ema, x, jnp.full((n,), time))) * scale
        new_key, sub = next_key(key)
        x = x + sigma * jax.random.normal(sub, x.shape)
        return (x, jnp.where(sigma > 0, new_key, key)), None

    key, sub = next_key(key)
    (x, key), _ = jax.lax.scan(body, (jax.random.normal(sub, (n, 2)), key), table, reverse=True)
    return x, key


def main(steps=40):
    data = two_moons(4096).astype(np.float32)
    state = create(jax.random.PRNGKey(0))
    rng = np.random.default_rng(1)
    for step in range(10, steps + 1, 10):
        idx = np.stack([rng.integers(0, len(data), size=BATCH) for _ in range(10)])
        state, loss = train_steps(state, data[idx])
        print(f"step {step} loss {loss:.3f}")
    key = state.key
    for round_ in range(2):
        samples, key = sample(state.ema, key, 256)
        samples = np.asarray(samples)
        print(f"samples {round_} mean {samples.mean(0).round(2)} std {samples.std(0).round(2)}")


if __name__ == "__main__":
    main()
