# source: jax-ml/jax#402
# blind: second

import dataclasses

import jax.numpy as jnp
from jax import random


@dataclasses.dataclass
class Lorenz:
    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    def field(self, state):
        x, y, z = state
        return jnp.stack([
            self.sigma * (y - x),
            x * (self.rho - z) - y,
            x * y - self.beta * z,
        ])


def rk4(field, state, dt):
    k1 = field(state)
    k2 = field(state + 0.5 * dt * k1)
    k3 = field(state + 0.5 * dt * k2)
    k4 = field(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(system, state, dt, steps):
    path = [state]
    for _ in range(steps):  # finding
        state = rk4(system.field, state, dt)  # finding-also
        path.append(state)
    return jnp.stack(path)


if __name__ == "__main__":
    start = random.normal(random.key(0), (3,))
    print(integrate(Lorenz(), start, 0.01, 300)[-1])
