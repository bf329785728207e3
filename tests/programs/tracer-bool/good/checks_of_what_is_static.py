# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


def normalise(weights, n):
    weights = jnp.ones(n) if weights is None else weights
    return weights / weights.sum()


@dataclass
class Hermitian:
    matrix: jax.Array

    def __post_init__(self):
        if self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]:
            raise ValueError("not square")
        if not isinstance(self.matrix, jax.core.Tracer) and not jnp.allclose(self.matrix, self.matrix.T):
            raise ValueError("not symmetric")

    def expectation(self, state, weights=None):
        return jnp.vdot(state * normalise(weights, state.shape[0]), self.matrix @ state)


def energy(theta, state):
    return Hermitian(jnp.diag(jnp.array([1.0, -1.0])) * theta).expectation(state)


if __name__ == "__main__":
    print(jax.grad(energy)(0.3, jnp.array([0.6, 0.8])))
