# blind: seventeenth

"""A heat equation solver as a dataclass with a jitted method."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@dataclass
class HeatSolver:
    cells: int
    length: float = 1.0
    diffusivity: float = 0.01

    @property
    def dx(self):
        return self.length / self.cells

    def laplacian(self, u):
        left = jnp.roll(u, 1)
        right = jnp.roll(u, -1)
        return (left - 2.0 * u + right) / self.dx**2

    @partial(jax.jit, static_argnums=(0, 2))  # finding-also
    def run(self, u, steps):
        dt = 0.4 * self.dx**2 / self.diffusivity

        def body(_, u):
            return u + dt * self.diffusivity * self.laplacian(u)

        return jax.lax.fori_loop(0, steps, body, u)


def main():
    solver = HeatSolver(cells=64)
    x = jnp.linspace(0.0, 1.0, 64, endpoint=False)
    u = jnp.exp(-100.0 * (x - 0.5) ** 2)
    u = solver.run(u, 100)  # finding
    print("mass", u.sum() * solver.dx)


if __name__ == "__main__":
    main()
