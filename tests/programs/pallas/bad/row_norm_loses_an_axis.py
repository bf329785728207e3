# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


@dataclass(frozen=True)
class Tiles:
    rows: int = 32
    interpret: bool = True


def norms_kernel(x_ref, o_ref):
    x = x_ref[...].astype(jnp.float32)
    o_ref[...] = jnp.sqrt(jnp.sum(x * x, axis=1))  # finding


def row_norms(x, tiles=Tiles()):
    n, d = x.shape
    return pl.pallas_call(
        norms_kernel,
        grid=(pl.cdiv(n, tiles.rows),),
        in_specs=[pl.BlockSpec((tiles.rows, d), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((tiles.rows, 1), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((n, 1), jnp.float32),
        interpret=tiles.interpret,
    )(x)


if __name__ == "__main__":
    print(row_norms(jnp.ones((128, 64)))[:2])
