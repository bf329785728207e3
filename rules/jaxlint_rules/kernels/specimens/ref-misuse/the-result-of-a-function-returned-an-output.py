# the result of a function returned, an output that begins as nothing

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl

def returned(x_ref, o_ref):
    return jnp.maximum(x_ref[...], 0.0)  # finding

def added(x_ref, y_ref, o_ref):
    o_ref[...] += x_ref[...] @ y_ref[...]  # finding

def summed(x_ref, o_ref):
    o_ref[:] = o_ref[:] + x_ref[:].sum(axis=1)  # finding

def begun(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...].sum(axis=0, keepdims=True)

def handed(x_ref, o_ref):
    clear(o_ref)
    o_ref[...] += x_ref[...]

def clear(ref):
    ref[...] = jnp.zeros_like(ref)

def call(x, specs, out_specs):
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    a = pl.pallas_call(returned, out_shape=out)(x)
    b = pl.pallas_call(added, out_shape=out, grid=(4,), in_specs=specs, out_specs=out_specs)(x, x)
    c = pl.pallas_call(begun, out_shape=out, grid=(4,), in_specs=specs, out_specs=out_specs)(x)
    d = pl.pallas_call(handed, out_shape=out)(x)
    e = pl.pallas_call(added, out_shape=out, input_output_aliases={2: 0})(x, x)
    f = pl.pallas_call(summed, out_shape=out, grid=(4,), in_specs=specs, out_specs=out_specs)(x)
    return a, b, c, d, e, f
