# blind: twentieth

"""Monte Carlo of an Ising chain with a cooling schedule and a jitted method."""
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


class Chain:
    """Nearest-neighbour couplings on a ring. Never changed after construction."""

    def __init__(self, coupling, field):
        self.coupling = coupling
        self.field = field

    def energy(self, spins):
        bonds = jnp.sum(spins * jnp.roll(spins, 1))
        return -self.coupling * bonds - self.field * spins.sum()

    @partial(jax.jit, static_argnums=0, donate_argnums=1)
    def sweep(self, spins, key, temperature):
        n = spins.shape[0]
        k_order, k_accept = jax.random.split(key)
        sites = jax.random.permutation(k_order, n)
        thresholds = jax.random.uniform(k_accept, (n,))

        def flip(spins, inputs):
            site, u = inputs
            around = spins[(site - 1) % n] + spins[(site + 1) % n]
            delta = 2.0 * spins[site] * (self.coupling * around + self.field)
            accept = u < jnp.exp(-delta / temperature)
            return spins.at[site].multiply(jnp.where(accept, -1.0, 1.0)), accept

        spins, accepted = lax.scan(flip, spins, (sites, thresholds))
        return spins, accepted.mean()


class Cooler:
    def __init__(self, chain, temperature, factor, floor=0.05):
        self.chain = chain
        self.temperature = temperature
        self.factor = factor
        self.floor = floor

    def run(self, spins, key, sweeps):
        for _ in range(sweeps):
            key, sub = jax.random.split(key)
            spins, rate = self.chain.sweep(spins, sub, self.temperature)
            self.temperature = max(self.temperature * self.factor, self.floor)
        return spins, rate


def main(sweeps=150, n=64):
    k_init, k_run = jax.random.split(jax.random.key(0))
    spins = jnp.where(jax.random.bernoulli(k_init, 0.5, (n,)), 1.0, -1.0)
    chain = Chain(coupling=1.0, field=0.1)
    cooler = Cooler(chain, temperature=3.0, factor=0.96)
    spins, rate = cooler.run(spins, k_run, sweeps)
    print("temperature", cooler.temperature, "acceptance", float(rate))
    print("energy per spin", float(chain.energy(spins)) / n)


if __name__ == "__main__":
    main()
