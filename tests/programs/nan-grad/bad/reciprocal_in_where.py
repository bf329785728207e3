# source: sail-sg/jax_xc#28

import jax
import jax.numpy as jnp


def coulomb(distance, charges, cutoff):
    pair = jnp.where(distance > 0.0, charges / distance, 0.0)  # finding
    return jnp.where(distance < cutoff, pair, 0.0).sum()


def energy(positions, charges):
    delta = positions[:, None] - positions[None]
    distance = jnp.abs(delta)
    return 0.5 * coulomb(distance, charges[:, None] * charges[None], 5.0)


forces = jax.jit(jax.grad(energy))

if __name__ == "__main__":
    print(forces(jnp.array([0.0, 1.0, 2.5]), jnp.array([1.0, -1.0, 1.0])))
