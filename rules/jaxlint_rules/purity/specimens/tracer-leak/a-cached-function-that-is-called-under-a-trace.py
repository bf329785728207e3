# a cached function that is called under a trace

import functools
import jax
import jax.numpy as jnp
import numpy as np

@functools.lru_cache(maxsize=None)  # finding
def table(n):
    return jnp.cos(jnp.linspace(0.0, 1.0, n))

@functools.cache
def host_table(n):
    return np.cos(np.linspace(0.0, 1.0, n))

@functools.cache
def compiled(order):
    return jax.jit(lambda x: x**order)

@functools.cache
def eager_table(n):
    return jnp.arange(n)

@jax.jit
def rotate(x):
    return x * table(x.shape[0]) + host_table(x.shape[0]) + compiled(2)(x)

def main():
    return rotate(jnp.ones(3)) + eager_table(3)
