# source: jax-ml/jax#38497
# blind: seventeenth

"""Row-wise RMS normalisation as a Pallas kernel."""
import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK_ROWS = 8


def rms_kernel(x_ref, scale_ref, o_ref, *, eps):
    x = x_ref[...]
    inv = jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + eps)
    o_ref[...] = x * inv * scale_ref[...]


def rms_norm(x, scale, eps=1e-6):
    rows, dim = x.shape
    return pl.pallas_call(
        functools.partial(rms_kernel, eps=eps),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(rows // BLOCK_ROWS,),
        in_specs=[
            pl.BlockSpec((BLOCK_ROWS, dim), lambda i: (i * BLOCK_ROWS, 0)),  # finding
            pl.BlockSpec((1, dim), lambda i: (0, 0)),
        ],
        out_specs=pl.BlockSpec((BLOCK_ROWS, dim), lambda i: (i * BLOCK_ROWS, 0)),  # finding-also
        interpret=True,
    )(x, scale[None])


def reference(x, scale, eps=1e-6):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + eps) * scale


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (64, 128))
    scale = jnp.ones(128)
    print(jnp.max(jnp.abs(rms_norm(x, scale) - reference(x, scale))))
