# source: jax-ml/jax#19350
# blind: ninth

import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def linear_kernel(x_ref, w_ref, b_ref, o_ref, *, activate):
    y = jnp.dot(x_ref[...], w_ref[...])  # finding
    y = y + b_ref[...]
    o_ref[...] = jax.nn.relu(y) if activate else y


@functools.partial(jax.jit, static_argnames=("block", "activate"))
def linear(x, w, b, block=32, activate=True):
    rows, inner = x.shape
    outer = w.shape[0]
    return pl.pallas_call(
        functools.partial(linear_kernel, activate=activate),
        grid=(rows // block,),
        in_specs=[
            pl.BlockSpec((block, inner), lambda i: (i, 0)),
            pl.BlockSpec((outer, inner), lambda i: (0, 0)),
            pl.BlockSpec((outer,), lambda i: (0,)),
        ],
        out_specs=pl.BlockSpec((block, outer), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((rows, outer), x.dtype),
        interpret=True,
    )(x, w, b)


if __name__ == "__main__":
    print(linear(jnp.ones((64, 16)), jnp.ones((48, 16)), jnp.zeros(48)).shape)
