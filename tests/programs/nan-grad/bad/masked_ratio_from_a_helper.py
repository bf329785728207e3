# source: jax-ml/jax#654
# blind: second

import jax
import jax.numpy as jnp


def coulomb(charge_i, charge_j, distance):
    return charge_i * charge_j / distance


def displacement(positions, box):
    delta = positions[:, None, :] - positions[None, :, :]
    return delta - box * jnp.round(delta / box)


def distances(delta):
    squared = jnp.sum(delta**2, axis=-1)
    return jnp.sqrt(squared)  # finding


def energy(positions, charges, box=10.0):
    r = distances(displacement(positions, box))
    pair = coulomb(charges[:, None], charges[None, :], r)  # finding-also
    off_diagonal = ~jnp.eye(len(charges), dtype=bool)
    return 0.5 * jnp.sum(jnp.where(off_diagonal, pair, 0.0))  # finding-also


force = jax.jit(jax.grad(lambda x, q: -energy(x, q)))


def verlet(positions, velocity, charges, dt=1e-3):
    velocity = velocity + 0.5 * dt * force(positions, charges)
    positions = positions + dt * velocity
    return positions, velocity + 0.5 * dt * force(positions, charges)


if __name__ == "__main__":
    x = jax.random.uniform(jax.random.key(0), (5, 3)) * 10
    q = jnp.array([1.0, -1.0, 1.0, -1.0, 0.5])
    print(verlet(x, jnp.zeros_like(x), q)[0])
