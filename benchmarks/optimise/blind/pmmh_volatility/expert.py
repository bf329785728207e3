# Stochastic volatility model: bootstrap particle filter inside particle-marginal Metropolis-Hastings.
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

T = 60
PARTICLES = 128
ITERATIONS = 60
BURN_IN = 20


class Params(NamedTuple):
    mu: float
    phi: float
    sigma: float

    def to_vector(self):
        return np.array([self.mu, np.arctanh(self.phi), np.log(self.sigma)], dtype=np.float32)

    @staticmethod
    def from_vector(v):
        return Params(v[0], jnp.tanh(v[1]), jnp.exp(v[2]))


def simulate(params, rng):
    h = params.mu
    ys, hs = [], []
    for _ in range(T):
        h = params.mu + params.phi * (h - params.mu) + params.sigma * rng.normal()
        hs.append(h)
        ys.append(np.exp(h / 2) * rng.normal())
    return np.array(ys, dtype=np.float32), np.array(hs, dtype=np.float32)


def log_prior(v):
    mean = jnp.array([0.0, 1.0, -1.0])
    scale = jnp.array([1.0, 0.7, 0.7])
    return jnp.sum(-0.5 * ((v - mean) / scale) ** 2)


def log_obs(y, h):
    return -0.5 * (jnp.log(2 * jnp.pi) + h + y**2 * jnp.exp(-h))


def systematic_resample(key, weights):
    u = (jnp.arange(PARTICLES) + jax.random.uniform(key)) / PARTICLES
    return jnp.searchsorted(jnp.cumsum(weights), u)


@partial(jax.jit, static_argnames="n")
def particle_filter(v, key, ys, n):
    """The log likelihood, the filtered means and the effective sample sizes."""
    p = Params.from_vector(v)
    key, k = jax.random.split(key)
    h = p.mu + p.sigma * jax.random.normal(k, (n,))

    def step(carry, y):
        h, key = carry
        key, k_move, k_res = jax.random.split(key, 3)
        h = p.mu + p.phi * (h - p.mu) + p.sigma * jax.random.normal(k_move, (n,))
        logw = log_obs(y, h)
        biggest = jnp.max(logw)
        w = jnp.exp(logw - biggest)
        loglik = jnp.log(jnp.mean(w)) + biggest
        w = w / jnp.sum(w)
        idx = jnp.clip(systematic_resample(k_res, w), 0, n - 1)
        return (h[idx], key), (loglik, jnp.sum(w * h), 1.0 / jnp.sum(w**2))

    _, (loglik, means, ess) = jax.lax.scan(step, (h, key), ys)
    return loglik.sum(), means, ess


@partial(jax.jit, static_argnames="n")
def pmmh(ys, v, key, n, step=0.15):
    key, k = jax.random.split(key)
    loglik, means, _ = particle_filter(v, k, ys, n)
    current = loglik + log_prior(v)

    def iteration(carry, _):
        v, current, means, key = carry
        key, k_prop, k_pf, k_acc = jax.random.split(key, 4)
        proposal = v + step * jax.random.normal(k_prop, (3,))
        loglik, new_means, _ = particle_filter(proposal, k_pf, ys, n)
        target = loglik + log_prior(proposal)
        accept = jnp.log(jax.random.uniform(k_acc)) < target - current
        v, current, means = jax.tree.map(
            lambda new, old: jnp.where(accept, new, old), (proposal, target, new_means), (v, current, means)
        )
        return (v, current, means, key), (v, means, accept)

    _, (samples, states, accepted) = jax.lax.scan(iteration, (v, current, means, key), None, length=ITERATIONS)
    return Params.from_vector(samples[BURN_IN:].T), states[BURN_IN:].mean(0), accepted.mean()


truth = Params(mu=-0.5, phi=0.85, sigma=0.4)
ys, hs = simulate(truth, np.random.default_rng(11))

start = jnp.array(truth.to_vector())
first, _, ess = particle_filter(start, jax.random.PRNGKey(0), ys, PARTICLES)
print(f"log likelihood at the truth {first:.3g}")
print(f"effective sample size {ess.mean():.3g}, least {ess.min():.3g}")

chain, smooth, rate = jax.device_get(pmmh(ys, start, jax.random.PRNGKey(1), PARTICLES))
print(f"acceptance rate {rate:.3g}")
for name in ["mu", "phi", "sigma"]:
    values = getattr(chain, name)
    print(f"{name}: mean {np.mean(values):.3g} sd {np.std(values):.3g}")
print(f"rmse of the log volatility {np.sqrt(np.mean((smooth - hs) ** 2)):.3g}")
print(f"correlation with the truth {np.corrcoef(smooth, hs)[0, 1]:.3g}")
