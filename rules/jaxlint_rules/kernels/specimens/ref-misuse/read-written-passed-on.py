# read, written, passed on

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def scaled(value, ref):
    ref[...] = value * pl.program_id(0)

def kernel(x_ref, o_ref, acc_ref):
    x = x_ref[...]
    acc_ref[...] = jnp.zeros_like(acc_ref)
    n = x_ref.shape[0] * 2
    scaled(x + n, o_ref)

    @pl.when(pl.program_id(1) == 0)
    def write():
        o_ref[...] += x
        return None

    return

def call(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, out_shape=out, grid=(4, 2))(x)
