# blind: tenth

import jax
import jax.numpy as jnp


def disc_height(r2, radius):
    inside = r2 < radius**2
    return jnp.where(inside, jnp.sqrt(radius**2 - r2), 0.0)  # finding


def volume(radius, points):
    r2 = jnp.sum(points**2, axis=-1)
    return jnp.mean(disc_height(r2, radius))


points = jnp.linspace(-1.0, 1.0, 20).reshape(10, 2)
print(jax.grad(volume)(0.5, points))
