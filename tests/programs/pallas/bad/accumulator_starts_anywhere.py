# source: jax-ml/jax#37183
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def matmul_kernel(a_ref, b_ref, o_ref):
    o_ref[...] += a_ref[...] @ b_ref[...]  # finding


def matmul(a, b, bm=64, bk=64, bn=64):
    m, k = a.shape
    n = b.shape[1]
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // bm, n // bn, k // bk),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)),
            pl.BlockSpec((bk, bn), lambda i, j, l: (l, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
        interpret=jax.default_backend() == "cpu",
    )(a, b)


if __name__ == "__main__":
    print(matmul(jnp.ones((128, 128)), jnp.ones((128, 128)))[0, 0])
