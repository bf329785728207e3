# source: jax-ml/jax#23649
# blind: seventh

import jax
import jax.numpy as jnp


def bond_angles(positions, triples):
    a, b, c = (positions[triples[:, i]] for i in range(3))
    u, v = a - b, c - b
    cross = jnp.cross(u, v)
    sine = jnp.sqrt(jnp.sum(cross**2, axis=-1) + 1e-12)
    return jnp.arctan2(sine, jnp.sum(u * v, axis=-1))


def harmonic_energy(positions, triples, theta0, k=50.0):
    return 0.5 * k * jnp.sum((bond_angles(positions, triples) - theta0) ** 2)


force = jax.jit(jax.grad(harmonic_energy))


def relax(positions, triples, steps):
    for _ in range(steps):
        positions = positions - 1e-3 * force(positions, triples, jnp.pi)
    return positions


if __name__ == "__main__":
    start = jnp.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    print(relax(start, jnp.array([[0, 1, 2]]), 3))
