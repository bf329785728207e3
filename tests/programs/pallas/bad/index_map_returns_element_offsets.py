# source: jax-ml/jax-triton#44
# blind: sixth

"""Blockwise scaling of a sequence."""
import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def scale_kernel(x_ref, g_ref, o_ref):
    o_ref[...] = x_ref[...] * g_ref[...]


@functools.partial(jax.jit, static_argnames=("block",))
def scale(x, gain, block=32):
    rows, cols = x.shape
    return pl.pallas_call(
        scale_kernel,
        grid=(rows // block,),
        in_specs=[
            pl.BlockSpec((block, cols), lambda i: (i * block, 0)),  # finding
            pl.BlockSpec((1, cols), lambda i: (0, 0)),
        ],
        out_specs=pl.BlockSpec((block, cols), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x, gain)


if __name__ == "__main__":
    x = jnp.arange(128.0 * 4).reshape(128, 4)
    print(scale(x, jnp.ones((1, 4)))[40:44])
