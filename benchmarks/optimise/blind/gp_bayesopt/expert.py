"""Bayesian optimisation of a noisy simulator with a Gaussian process and expected improvement."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import optax
from jax.scipy.linalg import cho_solve, solve_triangular
from jax.scipy.stats import norm


@dataclass
class Settings:
    n_initial: int = 6
    n_rounds: int = 8
    fit_steps: int = 30
    fit_lr: float = 0.08
    candidates: int = 300
    noise: float = 0.05
    xi: float = 0.01


class Hyper(NamedTuple):
    log_scale: jax.Array  # one length scale per input
    log_amp: jax.Array
    log_noise: jax.Array


def simulator(x, rng, noise):
    """Yield of a reactor at a (scaled) temperature, flow and pressure."""
    a, b, c = x
    peak = np.exp(-8.0 * (a - 0.65) ** 2 - 3.0 * (b - 0.3) ** 2)
    ridge = 0.4 * np.sin(5.0 * a * c) * (1.0 - b)
    return float(peak + ridge + noise * rng.normal())


def kernel(h, x1, x2):
    scaled = (x1[:, None] - x2[None]) / jnp.exp(h.log_scale)
    r = jnp.sqrt(jnp.sum(scaled**2, axis=-1) + 1e-12)
    s = jnp.sqrt(5.0) * r
    return jnp.exp(2 * h.log_amp) * (1.0 + s + s**2 / 3.0) * jnp.exp(-s)


def gram(h, x, mask):
    """Rows that are not there yet (mask 0) become rows of the identity."""
    k = kernel(h, x, x) + (jnp.exp(2 * h.log_noise) + 1e-6) * jnp.eye(len(x))
    both = mask[:, None] * mask[None]
    return both * k + (1.0 - both) * jnp.eye(len(x))


def negative_log_posterior(h, x, y, mask):
    chol = jnp.linalg.cholesky(gram(h, x, mask))
    alpha = cho_solve((chol, True), y)
    nll = 0.5 * y @ alpha + jnp.sum(jnp.log(jnp.diag(chol))) + 0.5 * mask.sum() * jnp.log(2 * jnp.pi)
    prior = 0.5 * jnp.sum((h.log_scale + 0.7) ** 2) + 0.5 * h.log_amp**2 + 0.5 * (h.log_noise + 2.5) ** 2
    return nll + prior


@partial(jax.jit, static_argnames=("steps", "lr"))
def fit(hyper, x, y, mask, steps, lr):
    optimizer = optax.adam(lr)

    def step(carry, _):
        hyper, opt_state, best, best_value = carry
        value, grads = jax.value_and_grad(negative_log_posterior)(hyper, x, y, mask)
        better = value < best_value
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), hyper, best)
        updates, opt_state = optimizer.update(grads, opt_state)
        return (optax.apply_updates(hyper, updates), opt_state, best, jnp.where(better, value, best_value)), None

    init = (hyper, optimizer.init(hyper), hyper, jnp.array(jnp.inf))
    (_, _, best, best_value), _ = jax.lax.scan(step, init, None, length=steps)
    return best, best_value


@jax.jit
def expected_improvement(h, x, y, mask, x_new, xi):
    chol = jnp.linalg.cholesky(gram(h, x, mask))
    k = kernel(h, x, x_new) * mask[:, None]
    mean = k.T @ cho_solve((chol, True), y)
    v = solve_triangular(chol, k, lower=True)
    var = jnp.exp(2 * h.log_amp) - jnp.sum(v**2, axis=0)
    sd = jnp.sqrt(jnp.maximum(var, 1e-10))
    gain = mean - jnp.max(jnp.where(mask > 0, y, -jnp.inf)) - xi
    z = gain / sd
    return gain * norm.cdf(z) + sd * norm.pdf(z)


class GaussianProcess:
    def __init__(self, dim, settings):
        self.settings = settings
        self.hyper = Hyper(np.full(dim, -0.7), np.array(0.0), np.array(-2.5))
        self.size = settings.n_initial + settings.n_rounds

    def fit(self, x, y):
        n = len(y)
        self.x, self.y, self.mask = np.zeros((self.size, x.shape[1])), np.zeros(self.size), np.zeros(self.size)
        self.x[:n], self.y[:n], self.mask[:n] = x, (y - y.mean()) / y.std(), 1.0
        self.hyper, value = fit(self.hyper, self.x, self.y, self.mask, self.settings.fit_steps, self.settings.fit_lr)
        return value

    def expected_improvement(self, x_new, xi):
        return np.asarray(expected_improvement(self.hyper, self.x, self.y, self.mask, x_new, xi))


def optimise(settings, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(settings.n_initial, 3))
    y = np.array([simulator(p, rng, settings.noise) for p in x])
    gp = GaussianProcess(3, settings)
    record = []
    for _ in range(settings.n_rounds):
        nlp = gp.fit(x, y)
        pool = rng.uniform(size=(settings.candidates, 3))
        ei = gp.expected_improvement(pool, settings.xi)
        best = pool[int(np.argmax(ei))]
        x = np.vstack([x, best])
        y = np.append(y, simulator(best, rng, settings.noise))
        record.append((float(nlp), float(ei.max()), y.max()))
    return gp, x, y, np.array(record)


def main():
    settings = Settings()
    finals = []
    for seed in (0, 1):
        gp, x, y, record = optimise(settings, seed)
        finals.append(y.max())
        print(f"seed {seed}: best {y.max():.4f} at {np.round(x[y.argmax()], 3).tolist()}")
        print(f"  length scales {np.round(np.exp(np.asarray(gp.hyper.log_scale)), 3).tolist()} "
              f"noise {float(np.exp(gp.hyper.log_noise)):.4f} final nlp {record[-1, 0]:.4f} "
              f"mean EI {record[:, 1].mean():.5f}")
    print(f"average best {np.mean(finals):.4f}")


if __name__ == "__main__":
    main()
