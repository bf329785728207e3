"""Parallel tempering for the period of a faint oscillation: a posterior with many modes."""
from dataclasses import dataclass
from functools import partial

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


def key_chain(key, n):
    return jax.lax.scan(lambda k, _: tuple(jax.random.split(k)), key, None, length=n)


@partial(jax.jit, static_argnums=1)
def initial(key, n, times, values):
    key, keys = key_chain(key, n)
    noise = jax.vmap(lambda k: jax.random.normal(k, (4,)))(keys)
    theta = jnp.array([0.0, 0.3, 0.0, 0.0]) + jnp.array([0.1, 0.05, 0.1, 0.1]) * noise
    loglik = jax.vmap(log_likelihood, (0, None, None))(theta, times, values)
    return key, (theta, loglik, jax.vmap(log_prior)(theta))


@partial(jax.jit, static_argnums=2, donate_argnums=(0, 1))
def run(key, replicas, length, first, betas, scales, times, values):
    n = betas.shape[0]

    def update(theta, loglik, logprior, beta, scale, key):
        proposal_key, accept_key = jax.random.split(key)
        proposal = theta + scale * jax.random.normal(proposal_key, (4,))
        new_loglik, new_logprior = log_likelihood(proposal, times, values), log_prior(proposal)
        log_ratio = beta * (new_loglik - loglik) + new_logprior - logprior
        accept = jnp.log(jax.random.uniform(accept_key)) < log_ratio
        new, old = (proposal, new_loglik, new_logprior), (theta, loglik, logprior)
        return jax.tree.map(partial(jnp.where, accept), new, old), accept

    def iteration(carry, number):
        key, replicas = carry
        key, keys = key_chain(key, n)
        replicas, accepted = jax.vmap(update)(*replicas, betas, scales, keys)
        # Pairs (0, 1), (2, 3), ... on even iterations and (1, 2), (3, 4), ... on odd ones.
        odd = number % 2
        pairs = (n - odd) // 2
        chained, swap_keys = key_chain(key, n // 2)
        loglik = replicas[1]
        left = odd + 2 * jnp.arange(n // 2)
        right = jnp.minimum(left + 1, n - 1)
        log_ratio = (betas[left] - betas[right]) * (loglik[right] - loglik[left])
        u = jax.vmap(jax.random.uniform)(swap_keys)
        valid = jnp.arange(n // 2) < pairs
        do = valid & (jnp.log(u) < log_ratio)
        _, shorter = jax.lax.scan(lambda k, _: (jax.random.split(k)[0],) * 2, key, None, length=n // 2)
        key = shorter[pairs - 1]
        order = jnp.arange(n)
        order = order.at[jnp.where(do, left, n)].set(right, mode="drop").at[jnp.where(do, right, n)].set(left, mode="drop")
        replicas = jax.tree.map(lambda x: x[order], replicas)
        return (key, replicas), (replicas[0][0], accepted.sum(), do.sum())

    (key, replicas), (draws, accepted, swaps) = jax.lax.scan(iteration, (key, replicas), first + jnp.arange(length))
    return key, replicas, draws, accepted.sum(), swaps.sum()


def main():
    settings = Settings()
    times, values = simulate(settings)
    temperatures = np.geomspace(1.0, settings.hottest, settings.replicas)
    betas = jnp.asarray(1.0 / temperatures, jnp.float32)
    scales = jnp.array([0.15, 0.02, 0.25, 0.1]) * jnp.asarray(temperatures**0.5, jnp.float32)[:, None]
    key, replicas = initial(jax.random.PRNGKey(settings.seed), settings.replicas, times, values)

    draws, accepted, swaps = [], 0, 0
    for done in range(0, settings.iterations, settings.report_every):
        key, replicas, block, more_accepted, more_swaps = run(
            key, replicas, settings.report_every, done + 1, betas, scales, times, values
        )
        draws.append(np.asarray(block))
        accepted, swaps = accepted + int(more_accepted), swaps + int(more_swaps)
        iteration = done + settings.report_every
        theta, loglik, _ = replicas
        print(
            f"iteration {iteration}: cold loglik {float(loglik[0]):.2f}, frequency {float(theta[0, 1]):.3f}, "
            f"acceptance {accepted / settings.replicas / iteration:.3f}, swaps {swaps}"
        )

    draws = np.concatenate(draws)[settings.burn_in :]
    for name, column in zip(["log amplitude", "frequency", "phase", "log sigma"], draws.T):
        print(f"{name}: mean {column.mean():.3g}, sd {column.std():.3g}")


if __name__ == "__main__":
    main()
