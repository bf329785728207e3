# arguments, small arrays, sizes that are not known, arrays made inside

import jax
import jax.numpy as jnp
import numpy as np

KERNEL = jnp.array([1.0, 2.0, 1.0])
TABLE = jnp.zeros((4096, 512))

@jax.jit
def smooth(x):
    return jnp.convolve(x, KERNEL)

@jax.jit
def look_up(table, i):
    return table[i] + jnp.zeros((4096, 512)).sum()

@jax.jit
def shadowed(TABLE):
    return TABLE.sum() + TABLE.shape[0]

@jax.jit
def shadowed_inside(x):
    return jax.tree.map(lambda TABLE: TABLE.sum(), x)

@jax.jit
def shape_only(x):
    return x * TABLE.shape[0]

def fit(data, w):
    @jax.jit
    def loss(w):
        return jnp.mean((data @ w) ** 2)
    return loss(w)

print(look_up(TABLE, 3))
