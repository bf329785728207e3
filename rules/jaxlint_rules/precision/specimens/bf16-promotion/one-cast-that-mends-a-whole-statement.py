# one draw in two products of a statement, which one cast mends

import jax
import jax.numpy as jnp


def mix(key):
    images = jnp.ones((4, 8), jnp.bfloat16)
    share = jax.random.beta(key, 0.2, 0.2)
    mixed = (
        share * images  # finding
        + (1 - share) * images[::-1]
    )
    doubled = images * share  # finding
    return mixed, doubled
