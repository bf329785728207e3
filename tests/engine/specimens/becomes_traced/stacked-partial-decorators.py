# stacked partial decorators
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.vmap, in_axes=(0, None))
@partial(jax.vmap, in_axes=(None, 0))
def distance(a, b):
    if a > b:  # finding: tracer-branch
        return a - b
    return b - a

distance(jnp.arange(3.0), jnp.arange(2.0))
