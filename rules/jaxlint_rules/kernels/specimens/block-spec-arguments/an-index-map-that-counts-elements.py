# an index map that counts elements

import jax
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def double(x, rows):
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // rows,),
        in_specs=[pl.BlockSpec((rows, 128), lambda i: (i * rows, 0))],  # finding
        out_specs=pl.BlockSpec((rows, 128), lambda i: (i, 0)),
        out_shape=x,
    )(x)

def shared(x, heads, group):
    return pl.pallas_call(
        kernel,
        grid=(heads // group,),
        in_specs=[pl.BlockSpec((1, 128), lambda i: (i * group, 0))],
        out_specs=pl.BlockSpec((1, 128), lambda i: (i, 0)),
        out_shape=x,
    )(x)
