# source: jax-ml/jax#2777
# blind: seventh

"""Three bodies under gravity, integrated with Runge and Kutta's method."""

from functools import partial

import jax
import jax.numpy as jnp


def acceleration(q, masses):
    delta = q[None, :, :] - q[:, None, :]
    r2 = jnp.sum(delta**2, axis=-1) + 1e-3
    return jnp.sum(masses[None, :, None] * delta / r2[..., None] ** 1.5, axis=1)


def derivative(state, masses):
    q, v = state
    return v, acceleration(q, masses)


@partial(jax.jit, static_argnames="n_steps")
def simulate(q, v, masses, dt, n_steps=2000):
    for _ in range(n_steps):  # finding
        k1 = derivative((q, v), masses)
        k2 = derivative((q + 0.5 * dt * k1[0], v + 0.5 * dt * k1[1]), masses)
        k3 = derivative((q + 0.5 * dt * k2[0], v + 0.5 * dt * k2[1]), masses)
        k4 = derivative((q + dt * k3[0], v + dt * k3[1]), masses)
        q = q + dt / 6.0 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        v = v + dt / 6.0 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    return q, v


if __name__ == "__main__":
    q = jax.random.normal(jax.random.key(0), (3, 2))
    print(simulate(q, jnp.zeros((3, 2)), jnp.ones(3), 1e-3))
