# source: jax-ml/jax#20056
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


def add(x, y, bm=8, bn=128):
    m, n = x.shape
    row = pl.BlockSpec((bm, bn), lambda i: (i, 0))  # finding
    return pl.pallas_call(
        add_kernel,
        grid=(m // bm, n // bn),
        in_specs=[row, row],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x, y)


if __name__ == "__main__":
    x = jnp.ones((16, 256))
    print(add(x, x).sum())
