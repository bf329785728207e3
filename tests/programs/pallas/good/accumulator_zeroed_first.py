# source: jax-ml/jax#37183
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def rowsum_kernel(x_ref, o_ref):
    @pl.when(pl.program_id(1) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += jnp.sum(x_ref[...], axis=1)


def rowsum(x, bm=8, bn=128):
    m, n = x.shape
    return pl.pallas_call(
        rowsum_kernel,
        grid=(m // bm, n // bn),
        in_specs=[pl.BlockSpec((bm, bn), lambda i, j: (i, j))],
        out_specs=pl.BlockSpec((bm,), lambda i, j: (i,)),
        out_shape=jax.ShapeDtypeStruct((m,), x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x)


if __name__ == "__main__":
    print(rowsum(jnp.ones((16, 256))))
