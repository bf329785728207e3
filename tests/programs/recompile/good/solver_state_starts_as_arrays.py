# source: google/jaxopt#451
# blind: fourth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class SolverState(NamedTuple):
    error: jax.Array
    stepsize: jax.Array


class GradientDescent:
    def __init__(self, fun, maxiter=200):
        self.fun, self.maxiter = fun, maxiter
        self._update = jax.jit(self.update)  # finding-other

    def init_state(self, params):
        return SolverState(
            error=jnp.asarray(jnp.inf, params.dtype),
            stepsize=jnp.asarray(1.0, params.dtype),
        )

    def update(self, params, state):
        grads = jax.grad(self.fun)(params)
        norm = jnp.linalg.norm(grads)
        stepsize = jnp.where(norm > state.error, state.stepsize * 0.5, state.stepsize)
        return params - stepsize * 0.1 * grads, SolverState(error=norm, stepsize=stepsize)

    def run(self, params):
        state = self.init_state(params)
        for _ in range(self.maxiter):
            params, state = self._update(params, state)
        return params, state


def bowl(x):
    return jnp.sum((1 - x) ** 2)


if __name__ == "__main__":
    solver = GradientDescent(bowl)
    params, state = solver.run(jnp.zeros(8))
    print(params, state.error)
