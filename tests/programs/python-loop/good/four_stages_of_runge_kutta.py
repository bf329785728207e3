# source: jax-ml/jax#1897
# blind: fourth

from functools import partial

import jax
import jax.numpy as jnp

NODES = (0.0, 0.5, 0.5, 1.0)
WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)


def runge_kutta_step(field, y, t, dt):
    k = jnp.zeros_like(y)
    total = jnp.zeros_like(y)
    for node, weight in zip(NODES, WEIGHTS):
        k = field(y + dt * node * k, t + node * dt)
        total = total + weight * k
    return y + dt * total


class Integrator:
    def __init__(self, field, dt):
        self.field, self.dt = field, dt

    @partial(jax.jit, static_argnums=(0, 2))
    def solve(self, y0, n_steps):
        def body(y, i):
            y = runge_kutta_step(self.field, y, i * self.dt, self.dt)
            return y, y

        return jax.lax.scan(body, y0, jnp.arange(n_steps))[1]


def pendulum(y, t):
    q, v = y
    return jnp.stack([v, -jnp.sin(q) + 0.1 * jnp.cos(t)])


if __name__ == "__main__":
    path = Integrator(pendulum, 0.05).solve(jnp.array([1.0, 0.0]), 200)
    print(path[-1])
