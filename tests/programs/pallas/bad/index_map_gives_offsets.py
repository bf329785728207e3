# source: jax-ml/jax-triton#44
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 128


def scale_kernel(x_ref, o_ref):
    o_ref[...] = 2.0 * x_ref[...]


def scale(x):
    return pl.pallas_call(
        scale_kernel,
        grid=(x.shape[0] // BLOCK,),
        in_specs=[pl.BlockSpec((BLOCK,), lambda i: (i * BLOCK,))],  # finding
        out_specs=pl.BlockSpec((BLOCK,), lambda i: (i,)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x)


if __name__ == "__main__":
    print(scale(jnp.arange(1024.0))[200:204])
