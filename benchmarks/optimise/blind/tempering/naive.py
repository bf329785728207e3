"""Parallel tempering for the period of a faint oscillation: a posterior with many modes."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass
class Settings:
    observations: int = 60
    replicas: int = 6
    hottest: float = 25.0
    iterations: int = 1500
    burn_in: int = 500
    report_every: int = 250
    seed: int = 7


def simulate(settings):
    rng = np.random.default_rng(settings.seed)
    times = np.sort(rng.uniform(0.0, 12.0, size=settings.observations)).astype(np.float32)
    signal = 0.9 * np.sin(2 * np.pi * 0.73 * times + 0.4)
    noisy = signal + 0.6 * rng.normal(size=settings.observations)
    return jnp.asarray(times), jnp.asarray(noisy.astype(np.float32))


@jax.jit
def log_likelihood(theta, times, values):
    log_amplitude, frequency, phase, log_sigma = theta
    model = jnp.exp(log_amplitude) * jnp.sin(2 * jnp.pi * frequency * times + phase)
    sigma = jnp.exp(log_sigma)
    return jnp.sum(-0.5 * ((values - model) / sigma) ** 2 - jnp.log(sigma))


def log_prior(theta):
    log_amplitude, frequency, phase, log_sigma = theta
    inside = (frequency > 0.05) & (frequency < 2.0) & (jnp.abs(phase) < jnp.pi)
    gauss = -0.5 * log_amplitude**2 - 0.5 * (log_sigma + 0.5) ** 2
    return jnp.where(inside, gauss, -jnp.inf)


class Replica:
    def __init__(self, theta, temperature, times, values):
        self.theta = theta
        self.beta = 1.0 / temperature
        self.times = times
        self.values = values
        self.loglik = log_likelihood(theta, times, values)
        self.logprior = log_prior(theta)
        self.scale = jnp.array([0.15, 0.02, 0.25, 0.1]) * temperature**0.5
        self.accepted = 0

    def step(self, key):
        proposal_key, accept_key = jax.random.split(key)
        proposal = self.theta + self.scale * jax.random.normal(proposal_key, (4,))
        loglik = log_likelihood(proposal, self.times, self.values)
        logprior = log_prior(proposal)
        log_ratio = self.beta * (loglik - self.loglik) + logprior - self.logprior
        if jnp.log(jax.random.uniform(accept_key)) < log_ratio:
            self.theta, self.loglik, self.logprior = proposal, loglik, logprior
            self.accepted += 1


def swap(a, b, key):
    log_ratio = (a.beta - b.beta) * (b.loglik - a.loglik)
    if jnp.log(jax.random.uniform(key)) < log_ratio:
        a.theta, b.theta = b.theta, a.theta
        a.loglik, b.loglik = b.loglik, a.loglik
        a.logprior, b.logprior = b.logprior, a.logprior
        return 1
    return 0


def main():
    settings = Settings()
    times, values = simulate(settings)
    key = jax.random.PRNGKey(settings.seed)
    temperatures = np.geomspace(1.0, settings.hottest, settings.replicas)
    replicas = []
    for temperature in temperatures:
        key, init_key = jax.random.split(key)
        start = jnp.array([0.0, 0.3, 0.0, 0.0]) + jnp.array([0.1, 0.05, 0.1, 0.1]) * jax.random.normal(init_key, (4,))
        replicas.append(Replica(start, float(temperature), times, values))

    draws, swaps = [], 0
    for iteration in range(1, settings.iterations + 1):
        for replica in replicas:
            key, step_key = jax.random.split(key)
            replica.step(step_key)
        for i in range(iteration % 2, settings.replicas - 1, 2):
            key, swap_key = jax.random.split(key)
            swaps += swap(replicas[i], replicas[i + 1], swap_key)
        if iteration > settings.burn_in:
            draws.append(np.asarray(replicas[0].theta))
        if iteration % settings.report_every == 0:
            cold = replicas[0]
            rate = np.mean([r.accepted for r in replicas]) / iteration
            print(
                f"iteration {iteration}: cold loglik {float(cold.loglik):.2f}, frequency {float(cold.theta[1]):.3f}, "
                f"acceptance {rate:.3f}, swaps {swaps}"
            )

    draws = np.stack(draws)
    for name, column in zip(["log amplitude", "frequency", "phase", "log sigma"], draws.T):
        print(f"{name}: mean {column.mean():.3g}, sd {column.std():.3g}")


if __name__ == "__main__":
    main()
