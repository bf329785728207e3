# a tuple as a static argument
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="axes")
def f(x, axes):
    return x.sum(axes)

f(jnp.ones((2, 2)), axes=(0, 1))
