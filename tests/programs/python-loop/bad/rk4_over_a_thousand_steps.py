# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Solver:
    dt: float = 1e-2
    n_steps: int = 1000

    def rk4(self, f, y):
        k1 = f(y)
        k2 = f(y + 0.5 * self.dt * k1)
        k3 = f(y + 0.5 * self.dt * k2)
        k4 = f(y + self.dt * k3)
        return y + self.dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def integrate(self, f, y):
        for _ in range(self.n_steps):  # finding
            y = self.rk4(f, y)
        return y


def lorenz(y):
    return jnp.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])


SOLVER = Solver()


@jax.jit
def final_state(y0):
    return SOLVER.integrate(lorenz, y0)


if __name__ == "__main__":
    print(final_state(jnp.ones(3)))
