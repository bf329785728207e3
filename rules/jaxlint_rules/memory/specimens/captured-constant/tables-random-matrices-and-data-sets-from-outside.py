# tables, random matrices and data sets from outside

from functools import partial
import jax
import jax.numpy as jnp
import numpy as np

TABLE = jnp.zeros((4096, 512))
DATA = np.load("data.npy")

@jax.jit
def look_up(i):
    return TABLE[i]  # finding

@jax.jit
def loss(w):
    return jnp.mean((DATA @ w) ** 2)  # finding

def make_potential(n, rows):
    stiffness = jnp.asarray(np.random.default_rng(0).random((n, rows), dtype=np.float32))
    return jax.jit(lambda u: jnp.sum((stiffness @ u) ** 2))  # finding

potential = make_potential(512, 512)

def energy(matrix, u):
    return u @ matrix @ u

big = jax.random.normal(jax.random.key(0), (1000, 1000))
bound = jax.jit(partial(energy, big))  # finding
