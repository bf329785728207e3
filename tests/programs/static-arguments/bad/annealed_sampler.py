# source: jax-ml/jax#13992
# blind: twentieth

"""Simulated annealing of a spin glass with single-site flips."""
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


class SpinGlass:
    def __init__(self, couplings):
        self.couplings = couplings

    def energy(self, spins):
        return -0.5 * spins @ self.couplings @ spins

    def local_field(self, spins, site):
        return self.couplings[site] @ spins


class Annealer:
    """Metropolis sweeps at the current temperature."""

    def __init__(self, model, temperature):
        self.model = model
        self.temperature = temperature  # finding-also

    @partial(jax.jit, static_argnums=0, donate_argnums=1)  # finding-also
    def sweep(self, spins, key):  # finding-also
        n = spins.shape[0]
        k_order, k_accept = jax.random.split(key)
        sites = jax.random.permutation(k_order, n)
        thresholds = jax.random.uniform(k_accept, (n,))

        def flip(spins, inputs):
            site, u = inputs
            delta = 2.0 * spins[site] * self.model.local_field(spins, site)
            accept = u < jnp.exp(-delta / self.temperature)  # finding
            return spins.at[site].multiply(jnp.where(accept, -1.0, 1.0)), accept

        spins, accepted = lax.scan(flip, spins, (sites, thresholds))
        return spins, accepted.mean()

    def cool(self, factor):
        self.temperature = max(self.temperature * factor, 0.05)  # finding-also


def random_couplings(key, n):
    upper = jnp.triu(jax.random.normal(key, (n, n)) / n**0.5, k=1)
    return upper + upper.T


def main(sweeps=150, n=64):
    key, k_j, k_init = jax.random.split(jax.random.key(0), 3)
    model = SpinGlass(random_couplings(k_j, n))
    spins = jnp.where(jax.random.bernoulli(k_init, 0.5, (n,)), 1.0, -1.0)
    annealer = Annealer(model, temperature=3.0)
    for _ in range(sweeps):
        key, sub = jax.random.split(key)
        spins, rate = annealer.sweep(spins, sub)  # finding-also
        annealer.cool(0.96)  # finding-also
    print("temperature", annealer.temperature, "acceptance", float(rate))
    print("energy per spin", float(model.energy(spins)) / n)


if __name__ == "__main__":
    main()
