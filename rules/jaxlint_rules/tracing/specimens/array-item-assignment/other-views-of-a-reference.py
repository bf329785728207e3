# other views of a reference

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def store(ref, value):
    words = ref.bitcast(jnp.uint32)
    words[0] = value
    rows = ref.reshape(4, 8)
    rows[0] = value

def kernel(x_ref, o_ref):
    store(o_ref, x_ref[0])

def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def rows():
    row = jnp.zeros(32).reshape(4, 8)
    row[0] = 1  # finding
    return run(row)
