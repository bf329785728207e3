# blind: tenth

import jax
import jax.numpy as jnp


def energy(positions):
    diff = positions[:, None, :] - positions[None, :, :]
    dist = jnp.linalg.norm(diff, axis=-1)  # finding
    off = 1.0 - jnp.eye(len(positions))
    return 0.5 * jnp.sum(off * (dist - 1.0) ** 2)


force = jax.jit(jax.grad(energy))
print(force(jnp.arange(6.0).reshape(3, 2)))
