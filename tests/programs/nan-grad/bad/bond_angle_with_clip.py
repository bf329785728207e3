# source: jax-ml/jax#23649
# blind: seventh

import jax
import jax.numpy as jnp


def unit(v):
    return v * jax.lax.rsqrt(jnp.sum(v**2, axis=-1, keepdims=True) + 1e-12)


def bond_angles(positions, triples):
    a, b, c = (positions[triples[:, i]] for i in range(3))
    cosine = jnp.sum(unit(a - b) * unit(c - b), axis=-1)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding


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
