# operators on shapes, on NumPy arrays, and on what a caller passes

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def pad(x, parts):
    z = jnp.zeros((2,) + x.shape)
    table = np.ones((3, 2)) * (2.0, 3.0)
    return x.reshape(x.shape + (1,)), z + jnp.asarray((0.5,)), table, [x] * 2


def add(x, offset):
    return jnp.asarray(x) + offset


def main(x):
    return add(x, jnp.ones(2)), sum([x, x]), (x,) + (x,)
