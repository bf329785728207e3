# Stochastic volatility model: bootstrap particle filter inside particle-marginal Metropolis-Hastings.
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

T = 60
PARTICLES = 128
ITERATIONS = 60
BURN_IN = 20


@dataclass
class Params:
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


class ParticleFilter:
    def __init__(self, ys, n):
        self.ys = ys
        self.n = n
        self.means = []
        self.ess = []

    def run(self, v, key):
        p = Params.from_vector(v)
        self.means, self.ess = [], []
        key, k = jax.random.split(key)
        h = p.mu + p.sigma * jax.random.normal(k, (self.n,))
        loglik = 0.0
        for y in self.ys:
            key, k_move, k_res = jax.random.split(key, 3)
            h = p.mu + p.phi * (h - p.mu) + p.sigma * jax.random.normal(k_move, (self.n,))
            logw = log_obs(y, h)
            biggest = jnp.max(logw)
            w = jnp.exp(logw - biggest)
            loglik += float(jnp.log(jnp.mean(w)) + biggest)
            w = w / jnp.sum(w)
            self.means.append(jnp.sum(w * h))
            self.ess.append(1.0 / jnp.sum(w**2))
            idx = jnp.clip(systematic_resample(k_res, w), 0, self.n - 1)
            h = h[idx]
        return loglik


def pmmh(pf, v, key, step=0.15):
    key, k = jax.random.split(key)
    current = pf.run(v, k) + float(log_prior(v))
    means = np.array(pf.means)
    samples, states, accepted = [], [], 0
    for i in range(ITERATIONS):
        key, k_prop, k_pf, k_acc = jax.random.split(key, 4)
        proposal = v + step * jax.random.normal(k_prop, (3,))
        target = pf.run(proposal, k_pf) + float(log_prior(proposal))
        if np.log(float(jax.random.uniform(k_acc))) < target - current:
            v, current = proposal, target
            means = np.array(pf.means)
            accepted += 1
        if i >= BURN_IN:
            samples.append(v)
            states.append(means)
    return samples, states, accepted / ITERATIONS


truth = Params(mu=-0.5, phi=0.85, sigma=0.4)
ys, hs = simulate(truth, np.random.default_rng(11))
pf = ParticleFilter(ys, PARTICLES)

start = jnp.array(truth.to_vector())
first = pf.run(start, jax.random.PRNGKey(0))
print(f"log likelihood at the truth {first:.3g}")
print(f"effective sample size {np.mean([float(e) for e in pf.ess]):.3g}, least {min(float(e) for e in pf.ess):.3g}")

samples, states, rate = pmmh(pf, start, jax.random.PRNGKey(1))
print(f"acceptance rate {rate:.3g}")
chain = [Params.from_vector(v) for v in samples]
for name in ["mu", "phi", "sigma"]:
    values = [float(getattr(p, name)) for p in chain]
    print(f"{name}: mean {np.mean(values):.3g} sd {np.std(values):.3g}")
smooth = np.mean(states, axis=0)
print(f"rmse of the log volatility {np.sqrt(np.mean((smooth - hs) ** 2)):.3g}")
print(f"correlation with the truth {np.corrcoef(smooth, hs)[0, 1]:.3g}")
