# source: jax-ml/jax#1686
# blind: ninth

import jax
import jax.numpy as jnp


class IsingChain:
    def __init__(self, couplings):
        self.couplings = couplings

    def energy(self, spins):
        def add_bond(i, total):
            return total - self.couplings[i] * spins[i] * spins[i + 1]

        return jax.lax.fori_loop(0, spins.shape[0] - 1, add_bond, jnp.zeros((), jnp.int32))  # finding


@jax.jit
def acceptance(couplings, spins, flipped):
    chain = IsingChain(couplings)
    return jnp.exp(chain.energy(spins) - chain.energy(flipped))


if __name__ == "__main__":
    spins = jnp.array([1.0, -1.0, 1.0, 1.0])
    print(acceptance(jnp.ones(3), spins, -spins))
