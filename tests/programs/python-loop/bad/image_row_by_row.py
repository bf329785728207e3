# source: Herculens/herculens#29
# blind: seventh

"""Lensing: deflection angles on a grid of pixels."""

import jax
import jax.numpy as jnp

SIZE = 64


@jax.jit
def deflection(centres, masses, extent):
    axis = jnp.linspace(-extent, extent, SIZE)
    alpha = jnp.zeros((SIZE, SIZE, 2))
    for i in range(SIZE):  # finding
        for j in range(SIZE):  # finding-also
            point = jnp.array([axis[i], axis[j]])
            delta = point - centres
            r2 = jnp.sum(delta**2, axis=-1) + 1e-4
            alpha = alpha.at[i, j].set(jnp.sum(masses[:, None] * delta / r2[:, None], axis=0))
    return alpha


if __name__ == "__main__":
    centres = jax.random.normal(jax.random.key(0), (10, 2))
    print(deflection(centres, jnp.ones(10), 2.0).shape)
