# source: jax-ml/jax#3694
# blind: first

import jax
import jax.numpy as jnp

RADIUS = {1: 0.31, 6: 0.76, 7: 0.71, 8: 0.66}


def covalent(z):
    return RADIUS[z]  # finding


def bonded(zi, zj, d):
    return d < 1.2 * (covalent(zi) + covalent(zj))


@jax.jit
def bond_vector(numbers, dist):
    return jax.vmap(bonded)(numbers[:-1], numbers[1:], dist)


if __name__ == "__main__":
    print(bond_vector(jnp.array([6, 1, 8]), jnp.array([1.1, 1.0])))
