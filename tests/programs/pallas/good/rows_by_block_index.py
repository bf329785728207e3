# source: jax-ml/jax#22370
# blind: fourth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8


def column_sum_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...].sum(0, keepdims=True)


def rms_norm_kernel(x_ref, scale_ref, o_ref):
    x = x_ref[...]
    o_ref[...] = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale_ref[...]


def row_block(width):
    return pl.BlockSpec((ROWS, width), lambda i: (i, 0))


@jax.jit
def rms_norm_and_sum(x, scale):
    n, width = x.shape
    shared = pl.BlockSpec((1, width), lambda i: (0, 0))
    y = pl.pallas_call(
        rms_norm_kernel,
        grid=(n // ROWS,),
        in_specs=[row_block(width), shared],
        out_specs=row_block(width),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x, scale)
    return pl.pallas_call(
        column_sum_kernel,
        grid=(n // ROWS,),
        in_specs=[row_block(width)],
        out_specs=shared,
        out_shape=jax.ShapeDtypeStruct((1, width), x.dtype),
        interpret=True,
    )(y)


if __name__ == "__main__":
    x = jnp.arange(64 * 16, dtype=jnp.float32).reshape(64, 16) + 1
    print(rms_norm_and_sum(x, jnp.ones((1, 16))))
