# source: jax-ml/jax#24117
# blind: eighth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLK = 16


def matmul_kernel(a_ref, b_ref, o_ref):
    o_ref[...] += a_ref[...] @ b_ref[...]  # finding


@jax.jit
def matmul(a, b):
    m, k = a.shape
    _, n = b.shape
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // BLK, n // BLK, k // BLK),
        in_specs=[
            pl.BlockSpec((BLK, BLK), lambda i, j, l: (i, l)),
            pl.BlockSpec((BLK, BLK), lambda i, j, l: (l, j)),
        ],
        out_specs=pl.BlockSpec((BLK, BLK), lambda i, j, l: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), a.dtype),
        interpret=True,
    )(a, b)


if __name__ == "__main__":
    print(matmul(jnp.ones((32, 32)), jnp.ones((32, 32)))[0, 0])
