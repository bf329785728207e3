# source: jax-ml/jax#16940
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def clip_kernel(x_ref, o_ref, *, limit):
    x = x_ref[...]
    norm = jnp.sqrt(jnp.sum(x * x))
    if norm > limit:  # finding
        x = x * (limit / norm)
    o_ref[...] = x


def clip(x, limit=1.0):
    return pl.pallas_call(
        lambda x_ref, o_ref: clip_kernel(x_ref, o_ref, limit=limit),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(clip(jnp.ones(8)))
