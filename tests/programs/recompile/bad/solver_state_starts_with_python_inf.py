# source: google/jaxopt#451
# blind: fourth

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class SolverState(NamedTuple):
    error: Any
    stepsize: Any


class GradientDescent:
    def __init__(self, fun, tol=1e-4, maxiter=200):
        self.fun, self.tol, self.maxiter = fun, tol, maxiter
        self._update = jax.jit(self.update)

    def init_state(self):
        return SolverState(error=float("inf"), stepsize=1.0)  # finding-also

    def update(self, params, state):
        grads = jax.grad(self.fun)(params)
        norm = jnp.linalg.norm(grads)
        stepsize = jnp.where(norm > state.error, state.stepsize * 0.5, state.stepsize)
        return params - stepsize * 0.1 * grads, SolverState(error=norm, stepsize=stepsize)

    def run(self, params):
        state = self.init_state()
        for _ in range(self.maxiter):
            params, state = self._update(params, state)  # finding
        return params, state


def rosenbrock_like(x):
    return jnp.sum((1 - x) ** 2)


if __name__ == "__main__":
    solver = GradientDescent(rosenbrock_like)
    params, state = solver.run(jnp.zeros(8))
    print(params, state.error)
