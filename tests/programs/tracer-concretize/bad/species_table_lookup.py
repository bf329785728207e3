# source: jax-ml/jax#5853

import jax
import jax.numpy as jnp

COVALENT_RADIUS = {1: 0.31, 6: 0.76, 7: 0.71, 8: 0.66}


def radius_of(species):
    return COVALENT_RADIUS[species]  # finding


def pair_energy(r_i, r_j, z_i, z_j):
    sigma = radius_of(z_i) + radius_of(z_j)
    ratio = (sigma / jnp.linalg.norm(r_i - r_j)) ** 6
    return 4 * (ratio**2 - ratio)


def total_energy(positions, species, pairs):
    per_pair = jax.vmap(lambda i, j: pair_energy(positions[i], positions[j], species[i], species[j]))
    return per_pair(pairs[:, 0], pairs[:, 1]).sum()


positions = jax.random.normal(jax.random.key(0), (4, 3))
species = jnp.array([6, 1, 1, 8])
pairs = jnp.array([[0, 1], [0, 2], [1, 3]])
print(total_energy(positions, species, pairs))
