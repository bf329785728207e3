# fitting, without index map, with a grid spec

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def fits(x, grid, memory):
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    whole = pl.BlockSpec(memory_space=memory)
    one = pl.pallas_call(kernel, grid=(4, 1), in_specs=[spec], out_specs=spec, out_shape=x)(x)
    two = pl.pallas_call(kernel, grid=grid, in_specs=[spec], out_specs=spec, out_shape=x)(x)
    three = pl.pallas_call(kernel, grid=4, in_specs=[whole], out_specs=pl.BlockSpec((8,), lambda *i: i), out_shape=x)(x)
    return one, two, three

def prefetched(x, n):
    spec = pl.BlockSpec((8, 128), lambda i, n_ref: (i, 0))
    grid_spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(4,), in_specs=[spec], out_specs=spec)
    return pl.pallas_call(kernel, grid_spec=grid_spec, out_shape=x)(n, x)
