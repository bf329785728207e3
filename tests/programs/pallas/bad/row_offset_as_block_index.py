# source: jax-ml/jax#22370
# blind: fourth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS = 8


def rms_norm_kernel(x_ref, scale_ref, o_ref, *, eps):
    x = x_ref[...]
    var = jnp.mean(x * x, axis=-1, keepdims=True)
    o_ref[...] = x * jax.lax.rsqrt(var + eps) * scale_ref[...]


def row_block(width):
    return pl.BlockSpec((ROWS, width), lambda i: (i * ROWS, 0))  # finding


class RMSNorm:
    def __init__(self, width, eps=1e-6):
        self.scale = jnp.ones((1, width))
        self.eps = eps

    def __call__(self, x):
        n, width = x.shape
        return pl.pallas_call(
            lambda x_ref, s_ref, o_ref: rms_norm_kernel(x_ref, s_ref, o_ref, eps=self.eps),
            grid=(n // ROWS,),
            in_specs=[row_block(width), pl.BlockSpec((1, width), lambda i: (0, 0))],  # finding-also
            out_specs=row_block(width),  # finding-also
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            interpret=True,
        )(x, self.scale)


if __name__ == "__main__":
    x = jnp.arange(64 * 16, dtype=jnp.float32).reshape(64, 16) + 1
    y = RMSNorm(16)(x)
    print(jnp.sqrt((y**2).mean(-1)))
