# source: jax-ml/jax#16940
# blind: sixth

"""Fused softplus."""
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def softplus_kernel(x_ref, o_ref):
    x = x_ref[...]
    return jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x)))  # finding


class Softplus:
    def __init__(self, block):
        self.block = block

    def __call__(self, x):
        spec = pl.BlockSpec((self.block,), lambda i: (i,))
        call = pl.pallas_call(  # finding-also
            softplus_kernel,
            grid=(pl.cdiv(x.shape[0], self.block),),
            in_specs=[spec],
            out_specs=spec,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            interpret=True,
        )
        return call(x)


if __name__ == "__main__":
    print(Softplus(8)(jnp.linspace(-3.0, 3.0, 32)))
