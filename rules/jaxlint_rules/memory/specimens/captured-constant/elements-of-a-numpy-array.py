# elements of a NumPy array that an unrolled loop reads by its counter, and the whole array

import jax
import jax.numpy as jnp
import numpy as np

degrees = np.load("degrees.npy")
on_device = jnp.asarray(np.load("degrees.npy"))
table = np.load("table.npy")


@jax.jit
def misfit(c):
    total = 0.0
    for i in range(3):
        total += jnp.sum(c[degrees[i]])
    return total + degrees[0]


@jax.jit
def misfit_of_rows(c, i):
    return jnp.sum(c * jnp.asarray(table)[i])  # finding


@jax.jit
def misfit_by_tracer(c, i):
    return jnp.sum(c * degrees[i:])  # finding


@jax.jit
def misfit_on_device(c):
    total = 0.0
    for i in range(3):
        total += c[on_device[i]]  # finding
    return total
