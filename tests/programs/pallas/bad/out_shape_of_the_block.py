# source: pytorch/xla#8469
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def square_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] ** 2


@jax.jit
def square(x):
    block = pl.BlockSpec((128,), lambda i, j: (i,))  # finding
    return pl.pallas_call(
        square_kernel,
        grid=(x.shape[0] // 128,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(square(jnp.arange(256.0))[:3])
