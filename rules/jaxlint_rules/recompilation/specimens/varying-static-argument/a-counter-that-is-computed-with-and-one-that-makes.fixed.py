# a counter that is computed with, and one that makes a shape

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def step(w, i, n):
    return w * 0.9**i + jnp.ones(n)

def train(w, steps):
    for i in range(steps):
        w = step(w, i, 3)
    return w

@partial(jax.jit, static_argnums=1)
def window(w, i):
    return w[:i].sum()

def sums(w, steps):
    total = 0.0
    for i in range(steps):
        total += window(w, i)
    return total
