# source: jax-ml/jax#23181
# blind: eighth
# missed: that the reshaped operand is one block high is not compared with the index

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def bias_kernel(x_ref, b_ref, o_ref):
    o_ref[...] = x_ref[...] + b_ref[...]


def add_bias(x, b, rows=8):
    n, d = x.shape
    b = b.reshape(1, d)
    return pl.pallas_call(
        bias_kernel,
        grid=(n // rows,),
        in_specs=[
            pl.BlockSpec((rows, d), lambda i: (i, 0)),
            pl.BlockSpec((1, d), lambda i: (1, 0)),  # finding
        ],
        out_specs=pl.BlockSpec((rows, d), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((n, d), x.dtype),
        interpret=True,
    )(x, b)


if __name__ == "__main__":
    print(add_bias(jnp.zeros((16, 4)), jnp.ones(4)))
