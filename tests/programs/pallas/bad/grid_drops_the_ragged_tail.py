# source: jax-ml/jax#22275
# blind: eighth
# missed: the length that the block does not divide is only known where the function is called

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def gelu_kernel(x_ref, o_ref):
    o_ref[...] = jax.nn.gelu(x_ref[...])


def gelu(x, block=128):
    return pl.pallas_call(
        gelu_kernel,
        grid=(x.shape[0] // block,),  # finding
        in_specs=[pl.BlockSpec((block,), lambda i: (i,))],
        out_specs=pl.BlockSpec((block,), lambda i: (i,)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(gelu(jnp.linspace(-3.0, 3.0, 300))[-3:])
