# squared distances

import jax.numpy as jnp

def distances(x, y):
    x2 = jnp.sum(x**2, axis=-1)
    y2 = jnp.sum(y**2, axis=-1)
    return x2[:, None] + y2[None, :] - 2 * jnp.dot(x, y.T)  # finding

def other(x, y):
    cross = jnp.einsum("id,jd->ij", x, y)
    return jnp.sum(x**2, -1)[:, None] - 2.0 * cross + jnp.sum(y**2, -1)  # finding
