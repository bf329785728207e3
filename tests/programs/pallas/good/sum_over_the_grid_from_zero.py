# blind: ninth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def column_sum_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.sum(x_ref[...], axis=0, keepdims=True)


def column_sum(x, block=64):
    rows, cols = x.shape
    return pl.pallas_call(
        column_sum_kernel,
        grid=(rows // block,),
        in_specs=[pl.BlockSpec((block, cols), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((1, cols), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((1, cols), x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(column_sum(jnp.ones((256, 128)))[0, :4])
