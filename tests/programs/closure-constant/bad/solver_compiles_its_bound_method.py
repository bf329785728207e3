# source: jax-ml/jax#10585
# blind: seventh

"""Conjugate gradients on a dense normal matrix that the solver owns."""

import jax
import jax.numpy as jnp


class NormalSolver:
    def __init__(self, design, rhs, damping=1e-2):
        self.matrix = design.T @ design
        self.rhs = design.T @ rhs
        self.damping = damping
        self.step = jax.jit(self._step)  # finding

    def _step(self, state):
        x, r, p, rs = state
        ap = self.matrix @ p + self.damping * p  # finding-also
        alpha = rs / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + (new / rs) * p, new

    def solve(self, iterations):
        x = jnp.zeros_like(self.rhs)
        state = (x, self.rhs, self.rhs, self.rhs @ self.rhs)
        for _ in range(iterations):
            state = self.step(state)
        return state[0]


if __name__ == "__main__":
    design = jax.random.normal(jax.random.key(0), (5000, 4000))
    print(NormalSolver(design, jnp.ones(5000)).solve(10)[:3])
