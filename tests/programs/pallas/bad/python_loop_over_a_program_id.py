# source: jax-ml/jax#16940
# blind: eighth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def prefix_kernel(x_ref, o_ref):
    i = pl.program_id(0)
    total = jnp.zeros((1,), x_ref.dtype)
    for j in range(i + 1):  # finding
        total = total + x_ref[j]
    o_ref[...] = total


def prefix_sum(x):
    return pl.pallas_call(
        prefix_kernel,
        grid=(x.shape[0],),
        in_specs=[pl.BlockSpec(x.shape, lambda i: (0,))],
        out_specs=pl.BlockSpec((1,), lambda i: (i,)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(prefix_sum(jnp.arange(4.0)))
