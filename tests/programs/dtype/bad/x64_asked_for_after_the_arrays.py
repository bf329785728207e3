# source: jax-ml/jax#8604
# blind: second

import jax
import jax.numpy as jnp

G = 6.674e-11
MASSES = jnp.array([1.989e30, 5.972e24, 7.348e22])
POSITIONS = jnp.array([[0.0, 0.0], [1.496e11, 0.0], [1.499844e11, 0.0]])


def configure(precise):
    if precise:
        jax.config.update("jax_enable_x64", True)  # finding


def acceleration(positions, masses):
    delta = positions[None, :, :] - positions[:, None, :]
    squared = jnp.sum(delta**2, axis=-1) + jnp.eye(len(masses))
    weight = G * masses[None, :] / (squared * jnp.sqrt(squared))
    return jnp.sum(weight[..., None] * delta, axis=1)


@jax.jit
def leapfrog(state, dt):
    x, v = state
    v = v + 0.5 * dt * acceleration(x, MASSES)
    x = x + dt * v
    return x, v + 0.5 * dt * acceleration(x, MASSES)


def main():
    configure(precise=True)
    state = (POSITIONS, jnp.zeros_like(POSITIONS))
    for _ in range(3):
        state = leapfrog(state, 3600.0)
    print(state[0].dtype)


if __name__ == "__main__":
    main()
