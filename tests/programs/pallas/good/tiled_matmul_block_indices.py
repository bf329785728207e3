# source: jax-ml/jax-triton#44
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BM = BN = BK = 16


def matmul_kernel(x_ref, y_ref, o_ref):
    @pl.when(pl.program_id(2) == 0)
    def _init():
        o_ref[...] = jnp.zeros_like(o_ref)

    o_ref[...] += x_ref[...] @ y_ref[...]


@functools.partial(jax.jit, static_argnames="interpret")
def matmul(x, y, interpret=True):
    (m, k), n = x.shape, y.shape[1]
    if m % BM or n % BN or k % BK:
        raise ValueError("shapes must be multiples of the block")
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // BM, n // BN, k // BK),
        in_specs=[
            pl.BlockSpec((BM, BK), lambda i, j, kk: (i, kk)),
            pl.BlockSpec((BK, BN), lambda i, j, kk: (kk, j)),
        ],
        out_specs=pl.BlockSpec((BM, BN), lambda i, j, kk: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=interpret,
    )(x, y)


if __name__ == "__main__":
    kx, ky = jax.random.split(jax.random.key(0))
    a, b = jax.random.normal(kx, (32, 48)), jax.random.normal(ky, (48, 16))
    print(jnp.abs(matmul(a, b) - a @ b).max())
