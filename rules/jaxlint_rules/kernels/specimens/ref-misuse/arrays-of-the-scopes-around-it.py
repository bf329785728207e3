# arrays of the scopes around it

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

WINDOW = jnp.hanning(128)
EPSILON = np.float32(1e-6)
BLOCK = 8

def windowed(x_ref, o_ref):
    o_ref[...] = x_ref[...] * WINDOW  # finding

def measured(x_ref, o_ref):
    rows = WINDOW.shape[0] // BLOCK
    o_ref[...] = x_ref[...] / (EPSILON + rows) + jnp.arange(BLOCK)

def shadowed(x_ref, o_ref):
    WINDOW = x_ref[...]
    o_ref[...] = WINDOW * 2

@jax.jit
def call(x, scale):
    def scaled(x_ref, o_ref):
        o_ref[...] = x_ref[...] * scale  # finding

    def given(x_ref, scale_ref, o_ref):
        o_ref[...] = jax.lax.fori_loop(0, 2, lambda i, scale: scale * 2, x_ref[...] * scale_ref[...])

    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = pl.pallas_call(windowed, out_shape=out)(x)
    b = pl.pallas_call(measured, out_shape=out)(x)
    c = pl.pallas_call(shadowed, out_shape=out)(x)
    return a + b + c + pl.pallas_call(scaled, out_shape=out)(x) + pl.pallas_call(given, out_shape=out)(x, scale)

call(jnp.ones(8), jnp.ones(8))
