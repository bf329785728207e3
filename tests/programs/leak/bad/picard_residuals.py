# source: jax-ml/jax#5492
# blind: nineteenth

import jax
import jax.numpy as jnp
from jax import lax


class PicardSolver:
    def __init__(self, nodes, omega):
        self.x = jnp.linspace(0.0, 1.0, nodes)
        self.omega = omega
        self.residuals = []
        self.sweep = jax.jit(self._sweep)  # finding-also

    def laplacian_solve(self, rhs):
        h = self.x[1] - self.x[0]

        def jacobi(_, u):
            inner = 0.5 * (u[2:] + u[:-2] + h * h * rhs[1:-1])
            return u.at[1:-1].set(inner)

        return lax.fori_loop(0, 400, jacobi, jnp.zeros_like(rhs))

    def _sweep(self, u, source):
        target = self.laplacian_solve(source * jnp.exp(-u))
        new = (1.0 - self.omega) * u + self.omega * target
        self.residuals.append(jnp.linalg.norm(new - u))  # finding
        return new

    def solve(self, source, sweeps):
        u = jnp.zeros_like(self.x)
        for _ in range(sweeps):
            u = self.sweep(u, source)
        return u

    def report(self):
        history = jnp.stack(self.residuals)  # finding-also
        rate = (history[-1] / history[0]) ** (1.0 / max(len(self.residuals) - 1, 1))
        return history, rate


def main():
    solver = PicardSolver(33, 0.8)
    source = 10.0 * jnp.sin(jnp.pi * solver.x)
    u = solver.solve(source, 15)
    history, rate = solver.report()
    print("peak", float(u.max()), "iterations", len(history), "rate", float(rate))


if __name__ == "__main__":
    main()
