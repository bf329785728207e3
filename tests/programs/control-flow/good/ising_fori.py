# blind: nineteenth

import jax
import jax.numpy as jnp
from jax import lax


@jax.jit
def bond_energy(spins, couplings):
    def body(i, total):
        return total - couplings[i] * spins[:, i] * spins[:, i + 1]

    return lax.fori_loop(0, spins.shape[1] - 1, body, jnp.zeros(spins.shape[0]))


@jax.jit
def domain_walls(spins):
    def body(i, count):
        return count + (spins[:, i] != spins[:, i + 1]).astype(jnp.int32)

    return lax.fori_loop(0, spins.shape[1] - 1, body, jnp.zeros(spins.shape[0], jnp.int32))


def main():
    k_s, k_j = jax.random.split(jax.random.key(0))
    spins = jnp.where(jax.random.bernoulli(k_s, 0.5, (16, 20)), 1.0, -1.0)
    couplings = jax.random.normal(k_j, (19,))
    direct = -jnp.sum(couplings * spins[:, :-1] * spins[:, 1:], axis=1)
    print("gap", float(jnp.abs(bond_energy(spins, couplings) - direct).max()))
    print("walls", domain_walls(spins)[:5].tolist())


if __name__ == "__main__":
    main()
