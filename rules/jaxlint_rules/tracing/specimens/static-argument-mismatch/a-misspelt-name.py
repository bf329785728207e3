# a misspelt name

from functools import partial
import jax

@partial(jax.jit, static_argnames=("dept", "mode"))  # finding
def refine(x, depth, mode):
    return x * depth
