# blind: tenth

import jax
import jax.numpy as jnp


def clipped(norm, g):
    return g / norm


def as_it_was(norm, g):
    return jnp.zeros_like(g, dtype=jnp.int32)


@jax.jit
def treat(g, limit):
    norm = jnp.linalg.norm(g)
    return jax.lax.cond(norm > limit, clipped, as_it_was, norm, g)  # finding


print(treat(jnp.arange(4.0), 2.0))
