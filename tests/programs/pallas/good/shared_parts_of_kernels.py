# source: jax-ml/jax#22746
# blind: first

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SCALE = 0.5
BIAS = jnp.ones(8)


def affine(x, scale, bias):
    return x * scale + bias


def kernel(x_ref, b_ref, o_ref, *, scale):
    ramp = jnp.arange(8, dtype=jnp.float32)
    o_ref[...] = affine(x_ref[...], scale, b_ref[...]) * ramp


@jax.jit
def run(x):
    block = BIAS.shape[0]
    return pl.pallas_call(
        functools.partial(kernel, scale=SCALE),
        grid=(x.shape[0] // block,),
        in_specs=[pl.BlockSpec((block,), lambda i: (i,)), pl.BlockSpec((block,), lambda i: (0,))],
        out_specs=pl.BlockSpec((block,), lambda i: (i,)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x, BIAS)


if __name__ == "__main__":
    print(run(jnp.ones(16)))
