# source: jax-ml/jax#1686
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
from jax import lax


def random_spins(key, chains, sites):
    return 2.0 * jax.random.bernoulli(key, 0.5, (chains, sites)).astype(jnp.float32) - 1.0


def bond_energy(spins, couplings):
    def body(i, total):
        return total - couplings[i] * spins[:, i] * spins[:, i + 1]  # finding-also

    return lax.fori_loop(0, spins.shape[1] - 1, body, 0)  # finding


def local_field(spins, couplings, site):
    left = jnp.where(site > 0, couplings[site - 1] * spins[:, site - 1], 0.0)
    last = spins.shape[1] - 1
    right = jnp.where(site < last, couplings[site] * spins[:, jnp.minimum(site + 1, last)], 0.0)
    return left + right


@functools.partial(jax.jit, static_argnames=("sweeps",))
def metropolis(key, spins, couplings, beta, sweeps):
    sites = spins.shape[1]

    def flip(spins, xs):
        site, u = xs
        cost = 2.0 * spins[:, site] * local_field(spins, couplings, site)
        accept = u < jnp.exp(-beta * cost)
        flipped = jnp.where(accept, -spins[:, site], spins[:, site])
        return spins.at[:, site].set(flipped), accept.mean()

    k_site, k_u = jax.random.split(key)
    order = jax.random.randint(k_site, (sweeps * sites,), 0, sites)
    uniforms = jax.random.uniform(k_u, (sweeps * sites, spins.shape[0]))
    spins, rate = lax.scan(flip, spins, (order, uniforms))
    return spins, rate.mean()


def main():
    k_spin, k_j, k_run = jax.random.split(jax.random.key(7), 3)
    spins = random_spins(k_spin, 32, 24)
    couplings = jnp.append(jax.random.normal(k_j, (23,)), 0.0)
    spins, rate = metropolis(k_run, spins, couplings, 1.5, 40)
    print("acceptance", float(rate))
    print("mean energy", float(bond_energy(spins, couplings).mean()))


if __name__ == "__main__":
    main()
