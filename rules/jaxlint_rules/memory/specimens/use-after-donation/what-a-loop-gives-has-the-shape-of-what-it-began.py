# what a loop gives has the shape of what it began with

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="steps", donate_argnames="x")
def descend(x, rate, steps):
    return jax.lax.fori_loop(0, steps, lambda _, x: x - rate * x, x)

def sweep(start, rates):
    ends = {}
    for rate in rates:
        end = descend(start, rate, steps=20)  # finding
        ends[rate] = jnp.sum(end)
    return ends

def copied(start, rates):
    return [descend(jnp.copy(start), rate, steps=20) for rate in rates]
