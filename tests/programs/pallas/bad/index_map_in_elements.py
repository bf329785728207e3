# source: jax-ml/jax-triton#44

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 8


def scale_rows_kernel(x_ref, s_ref, o_ref):
    o_ref[...] = x_ref[...] * s_ref[...]


def scale_rows(x, scale):
    rows, cols = x.shape
    return pl.pallas_call(
        scale_rows_kernel,
        grid=(rows // BLOCK,),
        in_specs=[
            pl.BlockSpec((BLOCK, cols), lambda i: (i * BLOCK, 0)),  # finding
            pl.BlockSpec((BLOCK, 1), lambda i: (i * BLOCK, 0)),  # finding-also
        ],
        out_specs=pl.BlockSpec((BLOCK, cols), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x, scale)


if __name__ == "__main__":
    x = jnp.arange(32.0).reshape(32, 1) * jnp.ones((1, 4))
    print(scale_rows(x, jnp.ones((32, 1)))[:, 0])
