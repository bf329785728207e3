# functions of a table, told apart by their names
from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnums=2)
def plain(x, times, count):
    return x[:count] * times[:count]

@partial(jax.jit, static_argnums=1)
def parallel(keys, count, x):
    return x[:count] + keys[:count]

METHODS = [("plain", plain), ("parallel", parallel)]

def main(flag):
    x, times, keys = jnp.ones(4), jnp.ones(4), jnp.ones(4)
    for name, method in METHODS:
        if "parallel" not in name:
            for _ in range(3):
                method(x, times, 2)
        if "parallel" in name:
            method(keys, 2, x)
