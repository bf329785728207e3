# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np


class FixedPointSolver:
    def __init__(self, omega):
        self.omega = omega
        self.history = []

    @staticmethod
    @jax.jit
    def sweep(x, matrix, rhs, omega):
        new = x + omega * (rhs - matrix @ x) / jnp.diag(matrix)
        return new, jnp.linalg.norm(rhs - matrix @ new)

    def solve(self, matrix, rhs, sweeps):
        x = jnp.zeros_like(rhs)
        residuals = []
        for _ in range(sweeps):
            x, residual = self.sweep(x, matrix, rhs, self.omega)
            residuals.append(residual)
        self.history = np.asarray(jnp.stack(residuals))
        return x


def diffusion_matrix(n, shift):
    return (2.0 + shift) * jnp.eye(n) - jnp.eye(n, k=1) - jnp.eye(n, k=-1)


def main():
    matrix = diffusion_matrix(32, 0.5)
    rhs = jnp.sin(jnp.linspace(0.0, jnp.pi, 32))
    exact = jnp.linalg.solve(matrix, rhs)
    for omega in (0.6, 0.9):
        solver = FixedPointSolver(omega)
        x = solver.solve(matrix, rhs, 60)
        rate = (solver.history[-1] / solver.history[0]) ** (1.0 / 59)
        print("omega", omega, "error", float(jnp.abs(x - exact).max()), "rate", float(rate))


if __name__ == "__main__":
    main()
