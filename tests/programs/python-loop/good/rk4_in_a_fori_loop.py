# source: jax-ml/jax#2777
# blind: seventh

"""Three bodies under gravity, integrated with Runge and Kutta's method."""

import jax
import jax.numpy as jnp


def acceleration(q, masses):
    delta = q[None, :, :] - q[:, None, :]
    r2 = jnp.sum(delta**2, axis=-1) + 1e-3
    return jnp.sum(masses[None, :, None] * delta / r2[..., None] ** 1.5, axis=1)


def derivative(state, masses):
    q, v = state
    return v, acceleration(q, masses)


@jax.jit
def simulate(q, v, masses, dt):
    def step(_, state):
        total = state
        stage = state
        for weight, ahead in ((1, 0.5), (2, 0.5), (2, 1.0), (1, 0.0)):
            slope = derivative(stage, masses)
            total = jax.tree.map(lambda t, k: t + dt * weight / 6.0 * k, total, slope)
            stage = jax.tree.map(lambda s, k: s + dt * ahead * k, state, slope)
        return total

    return jax.lax.fori_loop(0, 2000, step, (q, v))


if __name__ == "__main__":
    q = jax.random.normal(jax.random.key(0), (3, 2))
    print(simulate(q, jnp.zeros((3, 2)), jnp.ones(3), 1e-3))
