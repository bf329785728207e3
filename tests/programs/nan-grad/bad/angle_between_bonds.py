# source: jax-ml/jax#23649
# blind: ninth

import jax
import jax.numpy as jnp


def unit(v):
    return v / jnp.linalg.norm(v, axis=-1, keepdims=True)


def bond_angles(positions, triples):
    a, b, c = (positions[triples[:, k]] for k in range(3))
    cosine = jnp.sum(unit(a - b) * unit(c - b), axis=-1)
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))  # finding


class AngleTerm:
    def __init__(self, stiffness, rest):
        self.stiffness, self.rest = stiffness, rest

    def energy(self, positions, triples):
        return 0.5 * self.stiffness * jnp.sum((bond_angles(positions, triples) - self.rest) ** 2)


def forces(term, positions, triples):
    return -jax.grad(term.energy)(positions, triples)


if __name__ == "__main__":
    line = jnp.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    print(forces(AngleTerm(1.0, 2.0), line, jnp.array([[0, 1, 2]])))
