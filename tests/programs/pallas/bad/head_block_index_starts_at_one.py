# source: jax-ml/jax#23181
# blind: fourth
# missed: that the axis has one block alone is in the shape of what a caller passes

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def chunk_kernel(c_ref, b_ref, o_ref):
    o_ref[0, :, 0, :] = c_ref[0, :, 0, :] * b_ref[0, :, 0, :]


@functools.partial(jax.jit, static_argnames=("block_len",))
def chunk_product(c, b, block_len=16):
    """c: (chunks, length, heads, state), b: (chunks, length, 1, state) shared by the heads."""
    chunks, length, heads, state = c.shape
    return pl.pallas_call(
        chunk_kernel,
        grid=(chunks, length // block_len, heads),
        in_specs=[
            pl.BlockSpec((1, block_len, 1, state), lambda n, l, h: (n, l, h, 0)),
            pl.BlockSpec((1, block_len, 1, state), lambda n, l, h: (n, l, 1, 0)),  # finding
        ],
        out_specs=pl.BlockSpec((1, block_len, 1, state), lambda n, l, h: (n, l, h, 0)),
        out_shape=jax.ShapeDtypeStruct(c.shape, c.dtype),
        interpret=True,
    )(c, b)


def main():
    c = jnp.ones((2, 32, 4, 8))
    b = jnp.arange(2 * 32 * 8, dtype=jnp.float32).reshape(2, 32, 1, 8)
    out = chunk_product(c, b)
    print(jnp.abs(out - c * b).max())


if __name__ == "__main__":
    main()
