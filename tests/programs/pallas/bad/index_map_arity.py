# source: pytorch/helion#1788

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def matmul_kernel(a_ref, b_ref, o_ref):
    o_ref[...] = a_ref[...] @ b_ref[...]


def matmul(a, b, bm=16, bn=16):
    m, k = a.shape
    _, n = b.shape
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // bm, n // bn),
        in_specs=[
            pl.BlockSpec((bm, k), lambda i: (i, 0)),  # finding
            pl.BlockSpec((k, bn), lambda j: (0, j)),  # finding-also
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), a.dtype),
        interpret=True,
    )(a, b)


if __name__ == "__main__":
    print(matmul(jnp.ones((32, 8)), jnp.ones((8, 32))).shape)
