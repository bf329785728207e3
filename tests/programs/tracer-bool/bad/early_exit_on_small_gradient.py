# source: google/jaxopt#77
# blind: sixth

"""A projected gradient solver as a class."""
from dataclasses import dataclass
from typing import Callable

import jax
import jax.numpy as jnp


@dataclass
class ProjectedGradient:
    fun: Callable
    stepsize: float = 0.1
    tol: float = 1e-4
    maxiter: int = 50

    def __post_init__(self):
        self._grad = jax.grad(self.fun)
        self.run = jax.jit(self._run)

    def project(self, x):
        return jnp.maximum(x, 0.0)

    def _run(self, x):
        for _ in range(self.maxiter):
            new = self.project(x - self.stepsize * self._grad(x))
            moved = jnp.linalg.norm(new - x)
            x = new
            if moved < self.tol:  # finding
                break
        return x


if __name__ == "__main__":
    solver = ProjectedGradient(lambda x: jnp.sum((x - 1.0) ** 2))
    print(solver.run(jnp.zeros(3)))
