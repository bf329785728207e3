# blind: ninth

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def make_dequantize(scales):
    def kernel(q_ref, o_ref):
        group = pl.program_id(0)
        o_ref[...] = q_ref[...].astype(jnp.float32) * scales[group]  # finding

    @jax.jit
    def dequantize(q):
        groups, size = q.shape
        return pl.pallas_call(
            kernel,  # finding-also
            grid=(groups,),
            in_specs=[pl.BlockSpec((1, size), lambda i: (i, 0))],
            out_specs=pl.BlockSpec((1, size), lambda i: (i, 0)),
            out_shape=jax.ShapeDtypeStruct(q.shape, jnp.float32),
            interpret=True,
        )(q)

    return dequantize


if __name__ == "__main__":
    scales = jnp.linspace(0.1, 0.8, 8)
    print(make_dequantize(scales)(jnp.ones((8, 128), jnp.int8)).sum())
