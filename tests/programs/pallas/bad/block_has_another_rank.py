# source: jax-ml/jax-triton#170
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def softmax_kernel(x_ref, o_ref):
    x = x_ref[...]
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)


def softmax_rows(x, rows=8):
    m, n = x.shape
    spec = pl.BlockSpec((rows, n), lambda i: (i,))  # finding
    return pl.pallas_call(
        softmax_kernel,
        grid=(m // rows,),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x)


if __name__ == "__main__":
    print(softmax_rows(jnp.ones((32, 128)))[0, :3])
