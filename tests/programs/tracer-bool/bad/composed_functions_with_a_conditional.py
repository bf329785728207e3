# blind: every clause

import jax
import jax.numpy as jnp

from functools import reduce


def combine(*fs):
    return lambda x: reduce(lambda v, f: f(v), fs, x)


def shrink(x):
    return x * 0.5 if x.max() > 1 else x  # finding


pipe = jax.jit(combine(jnp.tanh, shrink))
print(pipe(jnp.ones(3)))
