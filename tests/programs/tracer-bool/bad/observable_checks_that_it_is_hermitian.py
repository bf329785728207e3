# source: PennyLaneAI/pennylane#6640
# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class Hermitian:
    matrix: jax.Array

    def __post_init__(self):
        self._validate(self.matrix)

    @staticmethod
    def _validate(matrix):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("not square")
        if not jnp.allclose(matrix, matrix.conj().T):  # finding
            raise ValueError("not Hermitian")

    def expectation(self, state):
        return jnp.real(jnp.vdot(state, self.matrix @ state))


def energy(theta, state):
    generator = jnp.array([[1.0, 0.0], [0.0, -1.0]]) * theta
    return Hermitian(generator).expectation(state)


if __name__ == "__main__":
    print(jax.jit(jax.grad(energy))(0.3, jnp.array([0.6, 0.8])))
