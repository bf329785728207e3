# source: jax-ml/jax#19350
# blind: sixth

"""Row-blocked layer normalisation."""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def norm_kernel(x_ref, o_ref, *, eps):
    x = x_ref[...]
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    o_ref[...] = (x - mean) * jax.lax.rsqrt(var + eps)


def layer_norm(x, block_rows=8, eps=1e-5):
    rows, cols = x.shape

    def kernel(x_ref, o_ref):
        norm_kernel(x_ref, o_ref, eps=eps)

    return pl.pallas_call(
        kernel,
        grid=(rows // block_rows,),
        in_specs=[pl.BlockSpec(lambda i: (i, 0), (block_rows, cols))],  # finding
        out_specs=pl.BlockSpec((block_rows, cols), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((rows, cols), x.dtype),
        interpret=True,
    )(x)


if __name__ == "__main__":
    print(layer_norm(jnp.arange(64.0).reshape(16, 4)))
