# source: jax-ml/jax#24117
# blind: eighth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLK = 16


def matmul_kernel(a_ref, b_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += a_ref[...] @ b_ref[...]


@jax.jit
def matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    if m % BLK or n % BLK or k % BLK:
        raise ValueError("all sides must be multiples of 16")
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // BLK, n // BLK, k // BLK),
        in_specs=[
            pl.BlockSpec((BLK, BLK), lambda i, j, l: (i, l)),
            pl.BlockSpec((BLK, BLK), lambda i, j, l: (l, j)),
        ],
        out_specs=pl.BlockSpec((BLK, BLK), lambda i, j, l: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), a.dtype),
        interpret=jax.default_backend() == "cpu",
    )(a, b)


if __name__ == "__main__":
    print(matmul(jnp.ones((32, 32)), jnp.ones((32, 32)))[0, 0])
