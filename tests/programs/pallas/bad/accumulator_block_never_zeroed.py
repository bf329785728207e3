# source: jax-ml/jax#16940
# blind: sixth

"""Row sums by a grid over columns."""
import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def rowsum_kernel(x_ref, acc_ref):
    acc_ref[...] += jnp.sum(x_ref[...], axis=1, keepdims=True)  # finding


@functools.partial(jax.jit, static_argnames="bc")
def row_sums(x, bc=32):
    rows, cols = x.shape
    return pl.pallas_call(  # finding-also
        rowsum_kernel,
        grid=(cols // bc,),
        in_specs=[pl.BlockSpec((rows, bc), lambda j: (0, j))],
        out_specs=pl.BlockSpec((rows, 1), lambda j: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((rows, 1), x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(row_sums(jnp.ones((8, 128)))[:, 0])
