# a program that checks itself on the CPU

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

jax.config.update("jax_platforms", "cpu")

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def double(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)  # finding

print(double(jnp.ones((8, 128))))
