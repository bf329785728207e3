# rebound, unread, returned, beyond the grid, outside of kernels

import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def rebound(x_ref, o_ref):
    o_ref = x_ref[...] * 2  # finding

def unread(x_ref, o_ref, *, scale):
    o_ref[...] = x_ref * scale  # finding

def returned(x_ref, o_ref):
    return x_ref[...] * 2  # finding

def beyond(x_ref, o_ref):
    o_ref[...] = x_ref[...] + pl.program_id(1)  # finding

def call(x):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = pl.pallas_call(rebound, out_shape=out)(x)
    b = pl.pallas_call(functools.partial(unread, scale=2.0), out_shape=out)(x)
    c = pl.pallas_call(returned, out_shape=out)(x)
    return a + b + c + pl.pallas_call(beyond, out_shape=out, grid=(8,))(x)

@jax.jit
def outside(x):
    return x + pl.program_id(0)  # finding
