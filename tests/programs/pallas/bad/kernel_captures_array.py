# source: jax-ml/jax#22746
# blind: first

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

WINDOW = jnp.hanning(128)


def window_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * WINDOW  # finding


def apply_window(frames):
    spec = pl.BlockSpec((1, 128), lambda i: (i, 0))
    return pl.pallas_call(
        window_kernel,  # finding-also
        grid=(frames.shape[0],),
        in_specs=[spec],
        out_specs=spec,
        out_shape=jax.ShapeDtypeStruct(frames.shape, frames.dtype),
        interpret=jax.default_backend() == "cpu",
    )(frames)


if __name__ == "__main__":
    print(apply_window(jnp.ones((4, 128))).shape)
