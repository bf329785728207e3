# a grid that leaves a part unwritten

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, LANES = 8, 128

def square(x_ref, o_ref):
    o_ref[...] = x_ref[...] ** 2

def dropping(x):
    m, n = x.shape
    spec = pl.BlockSpec((ROWS, LANES), lambda i, j: (i, j))
    return pl.pallas_call(
        square,
        grid=(m // ROWS, n // LANES),  # finding
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=True,
    )(x)

def rounding_up(x):
    m, n = x.shape
    spec = pl.BlockSpec((ROWS, LANES), lambda i, j: (i, j))
    return pl.pallas_call(
        square,
        grid=(pl.cdiv(m, ROWS), -(-n // LANES)),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=True,
    )(x)

def padding(x):
    m, n = x.shape
    padded = jnp.pad(x, ((0, -m % ROWS), (0, -n % LANES)))
    spec = pl.BlockSpec((ROWS, LANES), lambda i, j: (i, j))
    out = pl.pallas_call(
        square,
        grid=(padded.shape[0] // ROWS, padded.shape[1] // LANES),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(padded.shape, x.dtype),
        interpret=True,
    )(padded)
    return out[:m, :n]

def keeping_the_rest(x):
    (n,) = x.shape
    spec = pl.BlockSpec((LANES,), lambda i: (i,))
    return pl.pallas_call(
        square,
        grid=(n // LANES,),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct((n,), x.dtype),
        input_output_aliases={0: 0},
        interpret=True,
    )(x)

def by_rows(x):
    m, n = x.shape
    spec = pl.BlockSpec((None, n), lambda i: (i, 0))
    return pl.pallas_call(
        square,
        grid=m,
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=True,
    )(x)

x = jnp.ones((20, 300))
print(dropping(x), rounding_up(x), padding(x), keeping_the_rest(x[0]), by_rows(x), dropping(x[:16, :256]))
