# source: jax-ml/jax#20056
# blind: sixth

"""Tiled elementwise gate."""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

TILE_M, TILE_N = 8, 16


def gate_kernel(a_ref, b_ref, o_ref):
    o_ref[...] = jax.nn.sigmoid(a_ref[...]) * b_ref[...]


@jax.jit
def gate(a, b):
    m, n = a.shape
    tile = pl.BlockSpec((TILE_M, TILE_N), lambda i, j: (i, j))
    return pl.pallas_call(
        gate_kernel,
        grid=(m // TILE_M, n // TILE_N),
        in_specs=[tile, pl.BlockSpec((TILE_M, TILE_N), lambda i: (i, 0))],  # finding
        out_specs=tile,
        out_shape=jax.ShapeDtypeStruct((m, n), a.dtype),
        interpret=True,
    )(a, b)


def main():
    a = jnp.ones((16, 32))
    print(gate(a, 2.0 * a))


if __name__ == "__main__":
    main()
