# in a kernel

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    total = jnp.zeros((8,))
    for i in range(64):
        total = jnp.tanh(total + x_ref[i])
    o_ref[...] = total

@jax.jit
def run(x):
    total = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8,), x.dtype))(x)
    for i in range(64):  # finding
        total = jnp.tanh(total + x[i])
    return total
