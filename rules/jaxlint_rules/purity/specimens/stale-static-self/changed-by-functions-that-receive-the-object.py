# changed by functions that receive the object
import functools

import jax
import jax.numpy as jnp


class Barrier:
    def __init__(self, width):
        self.width = width

    @functools.partial(jax.jit, static_argnums=0)
    def height(self, x):
        return jnp.log(x / self.width)


def narrow(barrier, factor):
    barrier.width = barrier.width * factor  # finding


def climb(barrier, x):
    return x + barrier.height(x)


def anneal(barrier, x):
    x = climb(barrier, x)
    narrow(barrier, 0.5)
    return climb(barrier, x)


print(anneal(Barrier(1.0), jnp.ones(3)))
