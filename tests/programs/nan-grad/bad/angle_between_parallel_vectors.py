# blind: tenth

import jax
import jax.numpy as jnp


def angle(a, b):
    cos = jnp.dot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b))
    return jnp.arccos(jnp.clip(cos, -1.0, 1.0))  # finding


def alignment_loss(rotation, axes):
    return jnp.mean(jax.vmap(lambda v: angle(rotation @ v, v))(axes))


print(jax.grad(alignment_loss)(jnp.eye(3), jnp.eye(3)))
