# sums that are added up, the same block of the same input

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def sum_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.sum(x_ref[...], keepdims=True)

def first_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[:1]

def total(x, block):
    out = jax.ShapeDtypeStruct((1,), jnp.float32)
    spec = pl.BlockSpec((block,), lambda i: (i,))
    one = pl.BlockSpec((1,), lambda i: (0,))
    added = pl.pallas_call(sum_kernel, grid=(x.size // block,), in_specs=[spec], out_specs=one, out_shape=out)(x)
    same = pl.pallas_call(first_kernel, grid=(4,), in_specs=[pl.BlockSpec((block,), lambda i: (0,))], out_specs=one, out_shape=out)(x)
    return added + same
