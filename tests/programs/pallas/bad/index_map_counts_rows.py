# blind: tenth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8


def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0


@jax.jit
def double(x):
    n, d = x.shape
    return pl.pallas_call(
        kernel,
        grid=(n // ROWS,),
        in_specs=[pl.BlockSpec((ROWS, d), lambda i: (i * ROWS, 0))],  # finding
        out_specs=pl.BlockSpec((ROWS, d), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


x = jnp.arange(64.0 * 128).reshape(64, 128)
print(jnp.allclose(double(x), 2 * x))
