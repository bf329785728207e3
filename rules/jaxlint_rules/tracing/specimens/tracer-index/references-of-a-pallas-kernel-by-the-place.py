# references of a Pallas kernel, by the place in the grid

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref, *, rows=4):
    i = pl.program_id(0)
    o_ref[0, :] = x_ref[i, :] + x_ref[pl.ds(i * rows, 1), :][0]
    o_ref[1, :] = x_ref[i * rows:(i + 1) * rows, :].sum(axis=0)  # finding
    o_ref[2, :] = x_ref.at[0:rows][...].sum(axis=0)
    scales = [1.0, 2.0]

    @pl.loop(0, 2)
    def scale(row):
        o_ref[row, :] = o_ref[row, :] * scales[row]  # finding

    @pl.loop(0, 2, init_carry=jnp.float32(0.0))
    def total(row, carry):
        return carry + x_ref[row, 0]

def call(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((3, 8), jnp.float32), grid=(2,), interpret=True)(x)

call(jnp.ones((8, 8)))
