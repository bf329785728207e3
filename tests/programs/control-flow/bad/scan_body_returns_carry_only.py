# source: jax-ml/jax#5017

import jax
import jax.numpy as jnp


class Integrator:
    def __init__(self, field, dt):
        self.field = field
        self.dt = dt

    def rk4(self, y, t):
        k1 = self.field(t, y)
        k2 = self.field(t + self.dt / 2, y + self.dt / 2 * k1)
        k3 = self.field(t + self.dt / 2, y + self.dt / 2 * k2)
        k4 = self.field(t + self.dt, y + self.dt * k3)
        return y + self.dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def solve(self, y0, ts):
        final, _ = jax.lax.scan(self.rk4, y0, ts)  # finding
        return final


def lotka(t, y):
    return jnp.array([y[0] * (1 - y[1]), y[1] * (y[0] - 1)])


print(Integrator(lotka, 0.05).solve(jnp.array([1.5, 1.0]), jnp.arange(0, 5, 0.05)))
