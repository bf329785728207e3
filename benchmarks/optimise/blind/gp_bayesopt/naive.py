"""Bayesian optimisation of a noisy simulator with a Gaussian process and expected improvement."""
from dataclasses import dataclass
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


def gram(h, x):
    return kernel(h, x, x) + (jnp.exp(2 * h.log_noise) + 1e-6) * jnp.eye(len(x))


@jax.jit
def negative_log_posterior(h, x, y):
    chol = jnp.linalg.cholesky(gram(h, x))
    alpha = cho_solve((chol, True), y)
    nll = 0.5 * y @ alpha + jnp.sum(jnp.log(jnp.diag(chol))) + 0.5 * len(y) * jnp.log(2 * jnp.pi)
    prior = 0.5 * jnp.sum((h.log_scale + 0.7) ** 2) + 0.5 * h.log_amp**2 + 0.5 * (h.log_noise + 2.5) ** 2
    return nll + prior


@jax.jit
def posterior(h, x, y, x_new):
    chol = jnp.linalg.cholesky(gram(h, x))
    k = kernel(h, x, x_new)
    mean = k.T @ cho_solve((chol, True), y)
    v = solve_triangular(chol, k, lower=True)
    var = jnp.exp(2 * h.log_amp) - jnp.sum(v**2, axis=0)
    return mean, jnp.sqrt(jnp.maximum(var, 1e-10))


class GaussianProcess:
    def __init__(self, dim, settings):
        self.settings = settings
        self.hyper = Hyper(jnp.full(dim, -0.7), jnp.array(0.0), jnp.array(-2.5))
        self.optimizer = optax.adam(settings.fit_lr)
        self.objective = jax.jit(jax.value_and_grad(negative_log_posterior))

    def fit(self, x, y):
        self.mean, self.std = y.mean(), y.std()
        self.x, self.y = jnp.asarray(x), jnp.asarray((y - self.mean) / self.std)
        hyper, opt_state = self.hyper, self.optimizer.init(self.hyper)
        best, best_value = hyper, np.inf
        for _ in range(self.settings.fit_steps):
            value, grads = self.objective(hyper, self.x, self.y)
            if value < best_value:
                best, best_value = hyper, float(value)
            updates, opt_state = self.optimizer.update(grads, opt_state)
            hyper = optax.apply_updates(hyper, updates)
        self.hyper = best
        return best_value

    def predict(self, x_new):
        return posterior(self.hyper, self.x, self.y, x_new)


def expected_improvement(gp, x_new, xi):
    mean, sd = gp.predict(x_new)
    gain = mean - gp.y.max() - xi
    z = gain / sd
    return gain * norm.cdf(z) + sd * norm.pdf(z)


def optimise(settings, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(settings.n_initial, 3))
    y = np.array([simulator(p, rng, settings.noise) for p in x])
    gp = GaussianProcess(3, settings)
    record = []
    for _ in range(settings.n_rounds):
        nlp = gp.fit(x, y)
        pool = rng.uniform(size=(settings.candidates, 3))
        ei = expected_improvement(gp, pool, settings.xi)
        best = pool[int(jnp.argmax(ei))]
        x = np.vstack([x, best])
        y = np.append(y, simulator(best, rng, settings.noise))
        record.append((nlp, float(ei.max()), y.max()))
    return gp, x, y, np.array(record)


def main():
    settings = Settings()
    finals = []
    for seed in (0, 1):
        gp, x, y, record = optimise(settings, seed)
        finals.append(y.max())
        print(f"seed {seed}: best {y.max():.4f} at {np.round(x[y.argmax()], 3).tolist()}")
        print(f"  length scales {np.round(np.exp(np.asarray(gp.hyper.log_scale)), 3).tolist()} "
              f"noise {float(jnp.exp(gp.hyper.log_noise)):.4f} final nlp {record[-1, 0]:.4f} "
              f"mean EI {record[:, 1].mean():.5f}")
    print(f"average best {np.mean(finals):.4f}")


if __name__ == "__main__":
    main()
