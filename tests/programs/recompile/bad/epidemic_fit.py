# source: jax-ml/jax#2251
# blind: twentieth

"""Grid search over a compartment model of an epidemic."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclass(frozen=True)
class Region:
    population: float = 1e5
    seed_cases: float = 20.0
    days: int = 120
    substeps: int = 4


def derivative(state, beta, gamma, population):
    s, i, _ = state
    new = beta * s * i / population
    return jnp.stack([-new, new - gamma * i, gamma * i])


def simulate(region, beta, gamma):  # finding-also
    """Daily infected counts."""
    dt = 1.0 / region.substeps

    def substep(state, _):  # finding-also
        k1 = derivative(state, beta, gamma, region.population)
        k2 = derivative(state + 0.5 * dt * k1, beta, gamma, region.population)
        return state + dt * k2, None

    def day(state, _):  # finding-also
        state, _ = lax.scan(substep, state, None, length=region.substeps)  # finding-also
        return state, state[1]

    start = jnp.array([region.population - region.seed_cases, region.seed_cases, 0.0])
    _, infected = lax.scan(day, start, None, length=region.days)  # finding
    return infected


@jax.jit
def misfit(infected, observed):
    return jnp.mean((jnp.log1p(infected) - jnp.log1p(observed)) ** 2)


def grid_search(region, observed, betas, gammas):
    scores = [
        misfit(simulate(region, float(beta), float(gamma)), observed)  # finding-also
        for beta in betas
        for gamma in gammas
    ]
    best = int(jnp.argmin(jnp.stack(scores)))
    return betas[best // len(gammas)], gammas[best % len(gammas)]


def observe(region, beta, gamma, seed=0):
    rng = np.random.default_rng(seed)
    noise = np.exp(0.1 * rng.standard_normal(region.days))
    return jnp.asarray(np.asarray(simulate(region, beta, gamma)) * noise)


def main():
    region = Region()
    observed = observe(region, 0.35, 0.12)
    betas = np.linspace(0.2, 0.5, 7)
    gammas = np.linspace(0.08, 0.2, 7)
    print("best", grid_search(region, observed, betas, gammas))


if __name__ == "__main__":
    main()
