# blind: twentieth

"""Underdamped Langevin sampling with many chains and fold-in keys."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Sampler:
    step_size: float = 0.05
    friction: float = 1.0
    burn_in: int = 500
    steps: int = 1500
    chains: int = 8


def log_density(z):
    x, y = z
    return -0.5 * x**2 - 0.5 * (y - 0.5 * (x**2 - 1.0)) ** 2


def langevin_move(z, v, key, sampler):
    dt, gamma = sampler.step_size, sampler.friction
    noise = jax.random.normal(key, z.shape)
    keep = jnp.exp(-gamma * dt)
    v = keep * (v + dt * jax.grad(log_density)(z)) + jnp.sqrt(1.0 - keep**2) * noise
    return z + dt * v, v


def run_chain(key, start, chain, sampler):
    """Draws of one chain after burn-in, shape (steps, 2)."""
    chain_key = jax.random.fold_in(key, chain)
    k_velocity, k_steps = jax.random.split(chain_key)

    def body(carry, step):
        z, v = carry
        z, v = langevin_move(z, v, jax.random.fold_in(k_steps, step), sampler)
        return (z, v), z

    velocity = jax.random.normal(k_velocity, start.shape)
    total = sampler.burn_in + sampler.steps
    _, draws = lax.scan(body, (start, velocity), jnp.arange(total))
    return draws[sampler.burn_in:]


@partial(jax.jit, static_argnames="sampler")
def run_all(key, starts, sampler):
    chains = jnp.arange(sampler.chains)
    return jax.vmap(run_chain, in_axes=(None, 0, 0, None))(key, starts, chains, sampler)


def potential_scale_reduction(draws):
    """Gelman-Rubin statistic per coordinate, draws: (chains, steps, dim)."""
    steps = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = steps * draws.mean(axis=1).var(axis=0, ddof=1)
    pooled = (steps - 1) / steps * within + between / steps
    return jnp.sqrt(pooled / within)


def main():
    sampler = Sampler()
    k_start, k_run = jax.random.split(jax.random.key(0))
    starts = jax.random.normal(k_start, (sampler.chains, 2))
    draws = run_all(k_run, starts, sampler)
    print("mean", draws.mean(axis=(0, 1)), "std", draws.std(axis=(0, 1)))
    print("rhat", potential_scale_reduction(draws))


if __name__ == "__main__":
    main()
