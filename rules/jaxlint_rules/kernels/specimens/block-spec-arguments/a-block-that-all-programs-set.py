# a block that all programs set

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def sum_kernel(x_ref, o_ref):
    o_ref[0] = jnp.sum(x_ref[...])

def total(x, block):
    return pl.pallas_call(
        sum_kernel,
        grid=(x.size // block,),
        in_specs=[pl.BlockSpec((block,), lambda i: (i,))],
        out_specs=pl.BlockSpec((1,), lambda i: (0,)),  # finding
        out_shape=jax.ShapeDtypeStruct((1,), jnp.float32),
    )(x)
