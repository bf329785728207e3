# traced arguments, few values, the same value each time

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("training", "level"))
def step(w, i, training=True, level=0):
    return w + i if training else w * level

def train(w, steps, size):
    for i in range(steps):
        w = step(w, i)
        w = step(w, i, training=i < 10)
        w = step(w, i, training=i % 100 == 0, level=i % 4)
        w = step(w, i, level=size)
    for level in (1, 2, 3):
        w = step(w, 0, level=level)
    for level in range(3):
        w = step(w, 0, level=level)
    return w
