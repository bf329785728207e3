# old order, wrong number of arguments, wrong number of indices

import jax
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def old(x):
    spec = pl.BlockSpec(lambda i: (i, 0), (8, 128))  # finding
    return pl.pallas_call(kernel, grid=(4,), in_specs=[spec], out_specs=spec, out_shape=x)(x)

def arity(x):
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))  # finding
    return pl.pallas_call(kernel, grid=(4,), in_specs=[spec], out_specs=spec, out_shape=x)(x)

def indices(x):
    return pl.pallas_call(
        kernel,
        grid=(4, 2),
        in_specs=[pl.BlockSpec((8, 128), lambda i, j: i)],  # finding
        out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)),
        out_shape=x,
    )(x)
