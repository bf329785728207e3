# source: jax-ml/jax#37183
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def sumsq_kernel(x_ref, o_ref):
    o_ref[0] = jnp.sum(x_ref[...] ** 2)  # finding


def sum_of_squares(x, block=256):
    return pl.pallas_call(
        sumsq_kernel,
        grid=(x.size // block,),
        in_specs=[pl.BlockSpec((block,), lambda i: (i,))],
        out_specs=pl.BlockSpec((1,), lambda i: (0,)),  # finding-also
        out_shape=jax.ShapeDtypeStruct((1,), jnp.float32),
        interpret=jax.default_backend() == "cpu",
    )(x)[0]


if __name__ == "__main__":
    print(sum_of_squares(jnp.ones(1024)))
