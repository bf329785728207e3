# stacked decorators

from functools import partial
import jax

@jax.jit  # finding
@partial(jax.vmap, in_axes=(0, None))
def scaled(x, factor):
    return x * factor
