# source: jax-ml/jax#3681
# blind: sixth

"""Boundary conditions of a heat equation."""
import jax
import jax.numpy as jnp


def apply_boundary(u, left, right):
    u = jnp.asarray(u)
    u.at[0].set(left)  # finding
    u.at[-1].set(right)  # finding-also
    return u


@jax.jit
def evolve(u, steps_dt):
    def step(u, dt):
        lap = jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)
        return apply_boundary(u + dt * lap, 1.0, 0.0), None

    return jax.lax.scan(step, u, steps_dt)[0]


if __name__ == "__main__":
    print(evolve(jnp.zeros(16), jnp.full(50, 0.1)))
