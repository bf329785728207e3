# source: jax-ml/jax-triton#44
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BM, BN = 8, 16


def scale_kernel(x_ref, s_ref, o_ref):
    o_ref[...] = x_ref[...] * s_ref[...]


@functools.partial(jax.jit, static_argnames="interpret")
def scale_rows(x, s, interpret=True):
    m, n = x.shape
    return pl.pallas_call(
        scale_kernel,
        grid=(m // BM, n // BN),
        in_specs=[
            pl.BlockSpec((BM, BN), lambda i, j: (i * BM, j * BN)),  # finding
            pl.BlockSpec((BM, 1), lambda i, j: (i, 0)),
        ],
        out_specs=pl.BlockSpec((BM, BN), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=interpret,
    )(x, s)


def rms_scale(x, eps=1e-6):
    return jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + eps)


def rms_norm(x):
    return scale_rows(x, rms_scale(x))


if __name__ == "__main__":
    a = jnp.arange(32 * 32, dtype=jnp.float32).reshape(32, 32) + 1.0
    out, ref = rms_norm(a), a * rms_scale(a)
    print("max error", jnp.abs(out - ref).max())
