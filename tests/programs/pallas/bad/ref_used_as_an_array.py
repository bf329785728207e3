# source: jax-ml/jax#38350
# blind: eighth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def rms_kernel(x_ref, w_ref, o_ref):
    ms = jnp.mean(x_ref[...] ** 2, axis=-1, keepdims=True)
    o_ref[...] = x_ref * jax.lax.rsqrt(ms + 1e-6) * w_ref[...]  # finding


def rms_norm(x, w):
    return pl.pallas_call(
        rms_kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x, w)


if __name__ == "__main__":
    print(rms_norm(jnp.ones((2, 4)), jnp.ones(4)))
