# source: jax-ml/jax#2219

import jax
import jax.numpy as jnp


def apply_boundary(field, value):
    field.at[0, :].set(value)  # finding
    field.at[-1, :].set(value)  # finding
    return field


def diffuse(field, dt):
    lap = (
        jnp.roll(field, 1, 0) + jnp.roll(field, -1, 0) + jnp.roll(field, 1, 1) + jnp.roll(field, -1, 1) - 4 * field
    )
    return field + dt * lap


@jax.jit
def step(field):
    return apply_boundary(diffuse(field, 0.1), 1.0)


field = jnp.zeros((16, 16))
for _ in range(50):
    field = step(field)
print(field.max())
