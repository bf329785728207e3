# blind: tenth

import jax
import jax.numpy as jnp


def energy(x):
    diff = x[:, None] - x[None]
    dist = jnp.sqrt(jnp.sum(diff**2, axis=-1) + 1e-12)
    return jnp.sum(jnp.triu((dist - 1.0) ** 2, k=1))


print(jax.jit(jax.grad(energy))(jnp.arange(6.0).reshape(3, 2)))
