# source: jax-ml/jax#22173
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def gelu_kernel(x_ref, o_ref):
    x = x_ref[...]
    return 0.5 * x * (1.0 + jnp.tanh(0.797885 * (x + 0.044715 * x**3)))  # finding


def gelu(x):
    return pl.pallas_call(
        gelu_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=jax.default_backend() == "cpu",
    )(x)


if __name__ == "__main__":
    print(gelu(jnp.linspace(-2.0, 2.0, 128)))
