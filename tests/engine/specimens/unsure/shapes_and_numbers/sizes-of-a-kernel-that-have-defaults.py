# sizes of a kernel that have defaults
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref, block=128):
    start = pl.program_id(0) * block
    o_ref[pl.ds(start, block)] = x_ref[pl.ds(start, block)]

@jax.jit
def copy(x):
    return pl.pallas_call(kernel, grid=(2,), out_shape=x, interpret=True)(x)
