# parts of a kernel's block

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    heads = []
    for head in range(16):
        start = head * 8
        heads.append(x_ref[..., start : start + 8])
    o_ref[...] = jnp.stack(heads, axis=1)

@jax.jit
def run(x):
    heads = []
    for head in range(16):  # finding
        start = head * 8
        heads.append(jnp.tanh(x[..., start]))
    together = jnp.stack(heads, axis=1)
    return together, pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4, 16, 8), x.dtype))(x)
