# source: jax-ml/jax#21557
# blind: first

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def scale_kernel(x_ref, s_ref, o_ref):
    o_ref[...] = x_ref[...] * s_ref[0]


@functools.partial(jax.jit, static_argnames=("rows",))
def scale_rows(x, s, rows=8):
    m, n = x.shape
    tile = pl.BlockSpec((rows, n), lambda i: (i * rows, 0))  # finding
    return pl.pallas_call(
        scale_kernel,
        grid=(m // rows,),
        in_specs=[tile, pl.BlockSpec((1,), lambda i: (0,))],
        out_specs=tile,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x, s)


if __name__ == "__main__":
    print(scale_rows(jnp.ones((32, 4)), jnp.array([2.0])).sum())
