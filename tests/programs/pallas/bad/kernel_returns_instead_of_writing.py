# source: jax-ml/jax#18897
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def gelu_kernel(x_ref, o_ref):  # finding-also
    x = x_ref[...]
    return 0.5 * x * (1.0 + jnp.tanh(0.79788456 * (x + 0.044715 * x**3)))  # finding


def gelu(x, block=128):
    return pl.pallas_call(
        gelu_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // block,),
        in_specs=[pl.BlockSpec((block,), lambda i: (i,))],
        out_specs=pl.BlockSpec((block,), lambda i: (i,)),
        interpret=jax.default_backend() == "cpu",
    )(x)


if __name__ == "__main__":
    print(gelu(jnp.ones(256)))
