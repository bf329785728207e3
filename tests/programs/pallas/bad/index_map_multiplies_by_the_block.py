# source: jax-ml/jax-triton#44
# blind: eighth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK = 32


def scale_kernel(x_ref, o_ref):
    o_ref[...] = 2.0 * x_ref[...]


@jax.jit
def scale(x):
    n = x.shape[0]
    return pl.pallas_call(
        scale_kernel,
        grid=(n // BLOCK,),
        in_specs=[pl.BlockSpec((BLOCK,), lambda i: (i * BLOCK,))],  # finding
        out_specs=pl.BlockSpec((BLOCK,), lambda i: (i,)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(scale(jnp.arange(128.0))[:5])
