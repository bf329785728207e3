# blind: tenth

import jax
import jax.numpy as jnp


def repulsion(positions, radii):
    i, j = jnp.triu_indices(len(radii), k=1)
    gap = jnp.sum((positions[i] - positions[j]) ** 2, axis=-1)
    reach = (radii[i] + radii[j]) ** 2
    touching = gap < reach
    depth = jnp.where(touching, jnp.sqrt(reach - gap), 0.0)  # finding
    return jnp.sum(depth**3)


positions = jnp.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
print(jax.grad(repulsion)(positions, jnp.array([1.0, 1.0, 4.0])))
